"""`sekisho evaluate` and `sekisho calibrate gate`: tables for people, `--json` for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
import uvloop
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from classifiers.gate.promise import Promise
from evaluation import gate_tables, tables
from evaluation.cases import Answer, Feedback, FollowUp, GateCase, Pair, ShelfEntry, Traffic, read_cases
from evaluation.faithfulness import evaluate_faithfulness
from evaluation.followups import evaluate_followups
from evaluation.gate import evaluate_gate
from evaluation.gate_calibration import GateCalibration, calibrate_gate
from evaluation.shelf import evaluate_pairs, evaluate_traffic
from gateway.assembly import assemble, open_judge
from gateway.configuration import find_settings
from gateway.errors import InvalidRequest
from gateway.settings import Settings
from gateway.stores import open_encoder

__all__ = ["app", "calibrate_gate_command"]

app = typer.Typer(help="Measure a part of the gateway on a file of cases.", no_args_is_help=True)
console = Console(highlight=False)

Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="The configuration to measure.", envvar="SEKISHO_CONFIG")
]
Json = Annotated[Path | None, typer.Option("--json", help="Write the figures there.")]
File = Annotated[Path | None, typer.Option()]


@app.command("cache")
def cache_command(
    pairs: File = None,
    entries: File = None,
    traffic: File = None,
    feedback: File = None,
    target_error: Annotated[
        float | None,
        typer.Option(help="Wrong answers per request; default: cache.target_error.", min=1e-6, max=0.5),
    ] = None,
    config: Config = None,
    json_file: Json = None,
) -> None:
    """Verified answers: pairs, each alone on its shelf, or a FAQ (--entries) under --traffic."""
    with _scratch(config) as settings:
        if pairs and not (entries or traffic or feedback):
            cases = read_cases(pairs, Pair)
            with _bar(len(cases)) as progress:
                found_pairs = uvloop.run(evaluate_pairs(cases, settings, progress=progress))
            _tell(tables.pairs_table(found_pairs), found_pairs.as_json(), json_file)
        elif entries and traffic and not pairs:
            asked = read_cases(traffic, Traffic)
            labels = read_cases(feedback, Feedback) if feedback else []
            shelf = read_cases(entries, ShelfEntry)
            with _bar(len(asked)) as progress:
                found = uvloop.run(
                    evaluate_traffic(
                        shelf, asked, settings, feedback=labels,
                        target_error=target_error or settings.cache.target_error, progress=progress,
                    )
                )  # fmt: skip
            _tell(tables.traffic_table(found), found.as_json(), json_file)
        else:
            raise InvalidRequest("give either --pairs, or --entries and --traffic")


@app.command("gate")
def gate_command(
    cases: Annotated[Path, typer.Option()], config: Config = None, json_file: Json = None
) -> None:
    """Must, may, must not: whom the configured gate lets through, slice by slice."""
    rows = read_cases(cases, GateCase)

    async def measure(settings: Settings, progress: Callable[[], None]) -> Any:
        async with assemble(settings) as services:
            return await evaluate_gate(rows, services.gate, services.stores.encoder, progress=progress)

    with _scratch(config) as settings, _bar(len(rows)) as progress:
        found = uvloop.run(measure(settings, progress))
    _tell(tables.gate_table(found), found.as_json(), json_file)


def calibrate_gate_command(
    cases: Annotated[
        Path, typer.Option(help="Questions with their class; must-questions that are no examples count.")
    ],
    config: Config = None,
    tenant: Annotated[str, typer.Option(help="As whose asker they are judged.")] = "default",
) -> None:
    """Cut the gate so that it keeps gate.max_false_refusal, by questions it was not fitted on."""
    rows = read_cases(cases, GateCase)
    settings = find_settings(config)

    async def measure(progress: Callable[[], None]) -> GateCalibration:
        async with assemble(settings) as services:
            return await calibrate_gate(rows, services, tenant=tenant, progress=progress)

    with _bar(len(rows)) as progress:
        found = uvloop.run(measure(progress))
    for table in gate_tables.calibration_tables(found, settings.gate.max_false_refusal):
        console.print(table)
    if not isinstance(found.found, Promise):
        raise typer.Exit(1)


@app.command("faithfulness")
def faithfulness_command(
    cases: Annotated[Path, typer.Option()], config: Config = None, json_file: Json = None
) -> None:
    """Unsupported answers: what the configured judge stops, and what it stops wrongly."""
    rows = read_cases(cases, Answer)
    judge = open_judge(find_settings(config))
    with _bar(len(rows)) as progress:
        found = uvloop.run(evaluate_faithfulness(rows, judge, progress=progress))
    _tell(tables.faithfulness_table(found), found.as_json(), json_file)


@app.command("followups")
def followups_command(
    cases: Annotated[Path, typer.Option()], config: Config = None, json_file: Json = None
) -> None:
    """Follow-ups: what is looked up though it leans on earlier turns, or held back though it does not."""
    rows = read_cases(cases, FollowUp)
    settings = find_settings(config)

    async def measure(progress: Callable[[], None]) -> Any:
        encoder = await open_encoder(settings)
        return await evaluate_followups(rows, settings.understanding, encoder, progress=progress)

    with _bar(len(rows)) as progress:
        found = uvloop.run(measure(progress))
    _tell(tables.followups_table(found), found.as_json(), json_file)


@contextmanager
def _scratch(config: Path | None) -> Iterator[Settings]:
    """The configuration over stores of its own: measuring never touches, nor reads, what is served."""
    settings = find_settings(config)
    with TemporaryDirectory(prefix="sekisho-") as folder:
        storage = settings.storage.model_copy(
            update={"folder": Path(folder), "url": None, "qdrant_url": None}
        )
        yield settings.model_copy(update={"storage": storage})


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("judging", total=total)
        yield lambda: bar.advance(task)


def _tell(found: list[Table], figures: dict[str, Any], file: Path | None) -> None:
    for table in found:
        console.print(table)
    if file:
        file.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
