"""`sekisho evaluate`: tables for people, `--json` for programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from evaluation import tables
from evaluation.acceptance.commands import acceptance
from evaluation.answers.commands import answers_command
from evaluation.answers.compare_commands import compare_command
from evaluation.artificial.commands import coverage_command, questions_command
from evaluation.cases import Feedback, FollowUp, Pair, ShelfEntry, Traffic, read_cases
from evaluation.command_line import Config, File, Json, bar, scratch, tell
from evaluation.faithfulness.commands import faithfulness_command
from evaluation.followups import evaluate_followups
from evaluation.gate.commands import gate_command
from evaluation.shelf import evaluate_pairs, evaluate_traffic
from evaluation.users.commands import users_command
from gateway.errors import InvalidRequest
from gateway.settings.loading import find_settings
from gateway.stores import open_encoder

__all__ = ["acceptance", "app"]

app = typer.Typer(help="Measure a part of the gateway on a file of cases.", no_args_is_help=True)


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
    with scratch(config) as settings:
        if pairs and not (entries or traffic or feedback):
            cases = read_cases(pairs, Pair)
            with bar(len(cases)) as progress:
                found_pairs = uvloop.run(evaluate_pairs(cases, settings, progress=progress))
            tell(tables.pairs_table(found_pairs), found_pairs.as_json(), json_file)
        elif entries and traffic and not pairs:
            asked = read_cases(traffic, Traffic)
            labels = read_cases(feedback, Feedback) if feedback else []
            shelf = read_cases(entries, ShelfEntry)
            with bar(len(asked)) as progress:
                found = uvloop.run(
                    evaluate_traffic(
                        shelf, asked, settings, feedback=labels,
                        target_error=target_error or settings.cache.target_error, progress=progress,
                    )
                )  # fmt: skip
            tell(tables.traffic_table(found), found.as_json(), json_file)
        else:
            raise InvalidRequest("give either --pairs, or --entries and --traffic")


@app.command("followups")
def followups_command(
    cases: Annotated[Path, typer.Option()], config: Config = None, json_file: Json = None
) -> None:
    """Follow-ups: what is looked up though it leans on earlier turns, or held back though it does not."""
    rows = read_cases(cases, FollowUp)
    settings = find_settings(config)

    async def measure(progress: Callable[[], None]) -> Any:
        async with open_encoder(settings) as encoder:
            return await evaluate_followups(rows, settings.understanding, encoder, progress=progress)

    with bar(len(rows)) as progress:
        found = uvloop.run(measure(progress))
    tell(tables.followups_table(found), found.as_json(), json_file)


app.command("gate")(gate_command)
app.command("faithfulness")(faithfulness_command)
app.command("answers")(answers_command)
app.command("users")(users_command)
app.command("questions")(questions_command)
app.command("coverage")(coverage_command)
app.command("compare")(compare_command)
