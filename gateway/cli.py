"""The `sekisho` command."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from cache.errors import CacheError
from classifiers import ClassifierError
from encoders import EncoderError
from evaluation.cli import acceptance
from evaluation.cli import app as evaluate
from evaluation.faithfulness_commands import calibrate_faithfulness_command
from evaluation.gate_commands import calibrate_gate_command
from gateway.commands import asking, data, forgetting, people, replaying, reviewing, sealing, serving
from gateway.errors import SekishoError
from storage.resealing import UnknownKeys
from storage.sealing import NotOpened
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["app", "main"]

EXPECTED = (
    SekishoError, CacheError, ClassifierError, EncoderError,
    DatabaseUnavailable, IndexUnavailable, UnknownKeys, NotOpened,
)  # fmt: skip

app = typer.Typer(
    name="sekisho",
    help="A checkpoint in front of a RAG chatbot.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
serving.add_to(app)
asking.add_to(app)
data.add_to(app)
replaying.add_to(app)
forgetting.add_to(app)
sealing.add_to(app)
reviewing.add_to(app)
people.add_to(app)
app.add_typer(evaluate, name="evaluate")
app.add_typer(acceptance, name="acceptance")
calibrate = data.calibrate_app()
calibrate.command("gate")(calibrate_gate_command)
calibrate.command("faithfulness")(calibrate_faithfulness_command)
app.add_typer(calibrate, name="calibrate")


def main() -> None:
    """Run the command; what we can name is printed as one message, without a traceback."""
    try:
        app()
    except EXPECTED as exc:
        Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {exc}", markup=True, soft_wrap=True)
        sys.exit(2)
