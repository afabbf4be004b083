"""The `sekisho` command. What a command needs is imported when it is called, for that takes seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

__all__ = ["COMMANDS", "app", "loaded", "main"]

Register = Callable[[typer.Typer], object]


def _own(module: str, app: typer.Typer) -> None:
    import_module(f"gateway.commands.{module}").add_to(app)


def _evaluate(app: typer.Typer) -> None:
    from evaluation.cli import acceptance
    from evaluation.cli import app as evaluate

    app.add_typer(evaluate, name="evaluate")
    app.add_typer(acceptance, name="acceptance")


def _calibrate(app: typer.Typer) -> None:
    from evaluation.faithfulness.commands import calibrate_faithfulness_command
    from evaluation.gate.commands import calibrate_gate_command
    from gateway.commands.data import calibrate_app

    calibrate = calibrate_app()
    calibrate.command("gate")(calibrate_gate_command)
    calibrate.command("faithfulness")(calibrate_faithfulness_command)
    app.add_typer(calibrate, name="calibrate")


_serving, _data = partial(_own, "serving"), partial(_own, "data")

COMMANDS: Final[Mapping[str, tuple[Register, str]]] = {
    "serve": (_serving, "Run the gateway."),
    "demo": (_serving, "Run the gateway with the two example helpdesks."),
    "check-config": (_serving, "Read the configuration as `serve` would, and say what it means."),
    "ask": (
        partial(_own, "asking"),
        "Ask one question, in this process or a running gateway, and show the way it took.",
    ),
    "import": (_data, "Import verified entries from CSV, JSONL or XLSX; refused rows are listed by line."),
    "export": (
        _data,
        "Export to CSV, JSONL or XLSX, by the file's ending: verified entries, or whatever is asked for.",
    ),
    "reindex": (
        _data,
        "Rebuild the index of entries and documents from SQL, with the configured encoder.",
    ),
    "key": (_data, "Make an API key. It is shown once; only its hash is kept."),
    "replay": (
        partial(_own, "replaying"),
        "What another policy would have decided, with examples. Nothing is stored, no model is asked.",
    ),
    "forget": (
        partial(_own, "forgetting"),
        "Delete what an asker left here, or whatever is older than it is to be kept.",
    ),
    "reseal": (
        partial(_own, "sealing"),
        "Seal all texts of askers with the present key; without one, open what former keys sealed.",
    ),
    "import-reviews": (
        partial(_own, "reviewing"),
        "Close tickets as an exported sheet says (CSV, JSONL or XLSX); refused rows are listed by line.",
    ),
    "users": (partial(_own, "people"), "Who may sign in to the console."),
    "evaluate": (_evaluate, "Measure a part of the gateway on a file of cases."),
    "acceptance": (_evaluate, "Blind tests: is the gateway's answer as good as the ground truth?"),
    "calibrate": (_calibrate, "Find the cuts that keep the stated promises."),
}
"""Who registers each command, and what the help says of it: the first paragraph of its own help."""


def loaded(name: str) -> Any:
    """The command itself."""
    registered = typer.Typer()
    COMMANDS[name][0](registered)
    return get_group(registered).commands[name]


class _OnDemand(TyperGroup):
    """Lists what stands in `COMMANDS`, and imports the one that is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, loaded(str(name)), rest


app = typer.Typer(
    name="sekisho",
    cls=_OnDemand,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("sekisho"))
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Say which version this is.", callback=_say_version, is_eager=True)
]


@app.callback()
def _sekisho(version: Version = False) -> None:
    """A checkpoint in front of a RAG chatbot."""


def main() -> None:
    """Run the command; what we can name is printed as one message, without a traceback."""
    try:
        app()
    except Exception as exc:
        if isinstance(exc, OSError) and exc.filename:  # a file that somebody named
            told = f"{exc.filename}: {exc.strerror}"
        elif isinstance(exc, _named()):
            told = str(exc)
        else:
            raise
        from rich.text import Text

        from gateway.commands import errors

        errors.print(Text.assemble(("error: ", "bold red"), told), soft_wrap=True)
        sys.exit(2)


def _named() -> tuple[type[Exception], ...]:
    from cache.errors import CacheError
    from classifiers import ClassifierError
    from encoders import EncoderError
    from gateway.errors import SekishoError
    from storage.resealing import UnknownKeys
    from storage.sealing import NotOpened
    from storage.sql import DatabaseUnavailable
    from storage.vectors import IndexUnavailable

    return (
        SekishoError, CacheError, ClassifierError, EncoderError,
        DatabaseUnavailable, IndexUnavailable, UnknownKeys, NotOpened,
    )  # fmt: skip
