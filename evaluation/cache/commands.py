"""`sekisho evaluate cache`."""

from __future__ import annotations

from typing import Annotated

import typer
import uvloop

from evaluation.cache.judging import evaluate_pairs, evaluate_traffic
from evaluation.cache.tables import pairs_table, traffic_table
from evaluation.cases import Feedback, Pair, ShelfEntry, Traffic, read_cases
from evaluation.command_line import Config, File, Json, bar, scratch, tell
from gateway.errors import InvalidRequest

__all__ = ["cache_command"]


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
            tell(pairs_table(found_pairs), found_pairs.as_json(), json_file)
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
            tell(traffic_table(found), found.as_json(), json_file)
        else:
            raise InvalidRequest("give either --pairs, or --entries and --traffic")
