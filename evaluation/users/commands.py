"""`sekisho evaluate users`: simulated people ask, up to three turns each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import uvloop
from rich.progress import Progress
from rich.table import Table

from evaluation.answers.cases import read_answer_cases
from evaluation.answers.runs import run_folder
from evaluation.command_line import Config, Json, console, errors, tell
from evaluation.users.figures import Figures, figures_of
from evaluation.users.judging import BEST, CRITERIA, MARKED_BELOW
from evaluation.users.personas import read_personas
from evaluation.users.report import write_report
from evaluation.users.runs import dialogues_in, open_play, planned
from evaluation.users.sheet import write_sheet
from gateway.configuration.loading import find_settings

__all__ = ["users_command"]

Target = Annotated[Literal["gateway", "upstream"], typer.Option(help="The whole way, or the chatbot alone.")]


def users_command(
    cases: Annotated[Path, typer.Option(help="JSONL, CSV or XLSX: question, ground_truth …")],
    target: Target = "gateway",
    config: Config = None,
    personas: Annotated[str | None, typer.Option(help="Names with commas between. Default: all.")] = None,
    personas_file: Annotated[
        Path | None, typer.Option(help="Personas of your own: YAML by language and name, each with `manner`.")
    ] = None,
    turns: Annotated[int, typer.Option(help="The most that a person asks.", min=1, max=10)] = 3,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a second run there goes on.")] = None,
    url: Annotated[str | None, typer.Option(help="Ask a running gateway.", envvar="SEKISHO_URL")] = None,
    key: Annotated[str, typer.Option(help="The API key for --url.", envvar="SEKISHO_KEY")] = "",
    entries: Annotated[list[Path] | None, typer.Option(help="Verified entries for the shelf.")] = None,
    concurrency: Annotated[int, typer.Option(help="Dialogues under way at once.", min=1, max=256)] = 8,
    tenant: Annotated[str, typer.Option(help="As whose asker.")] = "default",
    note: Annotated[str, typer.Option(help="What readers of the report should know.")] = "",
    json_file: Json = None,
) -> None:
    """How does it deal with people: angry, in a hurry, new to it? An interrupted run goes on where it was."""
    settings = find_settings(config)
    names = [name.strip() for name in (personas or "").split(",") if name.strip()]
    asked = read_answer_cases(cases, settings.understanding.default_language)
    plan = planned(asked, read_personas(personas_file, names))
    with run_folder(out or Path("runs") / f"{cases.stem}-users-{target}") as folder:
        results = dialogues_in(folder / "dialogues.jsonl")

        async def play() -> str:
            async with open_play(
                settings, target, most_turns=turns, concurrency=concurrency, url=url, key=key,
                entries=entries or (), tenant=tenant,
            ) as opened:  # fmt: skip
                with Progress(console=errors, transient=True) as progress:
                    task = progress.add_task("talking", total=len(plan))
                    await opened.run(plan, results, progress=lambda _: progress.advance(task))
                return opened.model

        model = uvloop.run(play())
        _write(folder, f"{cases.name}: simulated users", model, turns, note, json_file)


def _write(folder: Path, title: str, model: str, turns: int, note: str, json_file: Path | None) -> None:
    results = dialogues_in(folder / "dialogues.jsonl")
    figures = figures_of(results)
    whole, personas, languages = figures
    told: dict[str, Any] = {
        **whole.as_json(),
        "by_persona": {name: one.as_json() for name, one in personas.items()},
        "by_lang": {name: one.as_json() for name, one in languages.items()},
        "model": model,
    }
    (folder / "summary.json").write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")
    tell([_table(whole, personas)], told, json_file)
    versions = f"Played and judged by {model}."
    write_report(folder / "report.html", results, figures, title=title, versions=versions, note=note)
    write_sheet(folder / "dialogues.xlsx", results, most_turns=turns)
    console.print(f"{folder / 'report.html'}, dialogues.xlsx, dialogues.jsonl and summary.json are written")


def _table(whole: Figures, personas: dict[str, Figures]) -> Table:
    table = Table(title=f"Simulated users: {whole.n} dialogues, {whole.turns} turns")
    for name in ("persona", "mean", "95 %", f"turns < {MARKED_BELOW}", "no verdict", "lowest criterion"):
        table.add_column(name, justify="left" if name == "persona" else "right")
    for name, one in (*sorted(personas.items()), ("all", whole)):
        lowest = min(CRITERIA, key=lambda criterion: one.criterion(criterion) or BEST)
        interval = f"{one.ci95[0]:.2f} to {one.ci95[1]:.2f}" if one.ci95 else "–"
        low = f"{one.marked} of {one.turns}"
        table.add_row(name, _told(one.mean), interval, low, str(one.undetermined), _criterion(lowest, one))
    return table


def _criterion(name: str, one: Figures) -> str:
    value = one.criterion(name)
    return "–" if value is None else f"{name} {value:.1f}"


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
