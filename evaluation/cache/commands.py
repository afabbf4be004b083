"""`sekisho evaluate cache`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import uvloop

from evaluation.cache.judging import evaluate_pairs, evaluate_traffic
from evaluation.cache.tables import pairs_table, traffic_table
from evaluation.cases import Feedback, Pair, Traffic, read_cases, read_shelf
from evaluation.command_line import Config, Json, bar, scratch, tell
from gateway.errors import InvalidRequest

__all__ = ["cache_command"]


def cache_command(
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="JSONL, CSV or XLSX: cached_question, question, should_reuse, category, lang, cached_lang."
        ),
    ] = None,
    entries: Annotated[
        Path | None,
        typer.Option(help="A FAQ: what `sekisho export` writes, or JSONL: entry_id, questions, lang."),
    ] = None,
    traffic: Annotated[
        Path | None,
        typer.Option(
            help="What is asked of it, in these forms: text, entry_id (null: no entry), slice, lang."
        ),
    ] = None,
    feedback: Annotated[
        Path | None, typer.Option(help="Labelled before, to calibrate by: text, entry_id, lang.")
    ] = None,
    target_error: Annotated[
        float | None,
        typer.Option(help="Wrong answers per request; default: cache.target_error.", min=1e-6, max=0.5),
    ] = None,
    config: Config = None,
    json_file: Json = None,
) -> None:
    """Verified answers: pairs, each alone on its shelf, or a FAQ (--entries) under --traffic."""
    with scratch(config) as settings:
        default = settings.understanding.default_language
        if pairs and not (entries or traffic or feedback):
            cases = read_cases(pairs, Pair, default)
            with bar(len(cases)) as progress:
                found_pairs = uvloop.run(evaluate_pairs(cases, settings, progress=progress))
            tell(pairs_table(found_pairs), found_pairs.as_json(), json_file)
        elif entries and traffic and not pairs:
            shelf = read_shelf(entries, default)
            ids = {one.entry_id for one in shelf}  # of those that nobody is served, too
            asked = read_cases(traffic, Traffic, default, entries=ids)
            labels = read_cases(feedback, Feedback, default, entries=ids) if feedback else []
            with bar(len(asked)) as progress:
                found = uvloop.run(
                    evaluate_traffic(
                        [one for one in shelf if one.active], asked, settings, feedback=labels,
                        target_error=target_error or settings.cache.target_error, progress=progress,
                    )
                )  # fmt: skip
            tell(traffic_table(found), found.as_json(), json_file)
        else:
            raise InvalidRequest("give either --pairs, or --entries and --traffic")
