"""`sekisho evaluate faithfulness`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from classifiers.faithfulness.lexical import LexicalJudge
from evaluation.cases import Answer, read_cases
from evaluation.command_line import Config, Json, bar, console, tell
from evaluation.faithfulness import FaithfulnessResult, evaluate_faithfulness
from evaluation.faithfulness_report import WORST, write_faithfulness_report
from evaluation.faithfulness_tables import faithfulness_tables, worst_table
from evaluation.faithfulness_ways import (
    OURS,
    Compared,
    by_cosine,
    by_threshold,
    by_verdict,
    by_words,
    flag_all,
)
from evaluation.fitted_on import judge_sources
from gateway.checking.opening import judge_apart
from gateway.configuration import find_settings
from gateway.settings import Settings
from gateway.stores import open_encoder

__all__ = ["faithfulness_command"]

AT_ONCE = 8  # answers that a language model is asked about at a time

Cases = Annotated[
    Path, typer.Option(help="Answers with contexts and whether these support them: JSONL, data README.")
]
Worst = Annotated[int, typer.Option(help="Print so many wrong decisions, the surest first.", min=0)]
AtOnce = Annotated[
    int | None, typer.Option(help="Answers judged at a time; default 1, 8 where a model is asked.", min=1)
]
Report = Annotated[
    Path | None, typer.Option(help="Write tables and curves there, as one HTML file.", dir_okay=False)
]


def faithfulness_command(
    cases: Cases,
    config: Config = None,
    json_file: Json = None,
    report: Report = None,
    worst: Worst = 0,
    at_once: AtOnce = None,
    baselines: Annotated[bool, typer.Option(help="Simpler ways beside ours.")] = True,
) -> None:
    """Unsupported answers: what the configured judge stops, and what it stops wrongly."""
    rows = read_cases(cases, Answer)
    settings = find_settings(config)
    if at_once is None:
        at_once = AT_ONCE if settings.faithfulness.judge in ("llm", "cascade") else 1
    with bar(len(rows)) as progress:
        result, compared = uvloop.run(
            _measured(rows, settings, at_once=at_once, baselines=baselines, progress=progress)
        )
    warnings = judge_sources(settings.faithfulness.judge, rows)
    tables = faithfulness_tables(result, compared)
    tell([*tables, *([worst_table(result, worst)] if worst else [])], result.as_json(), json_file)
    for warning in warnings:
        console.print(warning, style="red" if warning.startswith("Warning") else "")
    if report:
        about = f"{config.name if config else 'the configuration'} on {cases.name}"
        write_faithfulness_report(
            report, result, compared, about=about, warnings=warnings, worst=worst or WORST
        )


async def _measured(
    rows: Sequence[Answer],
    settings: Settings,
    *,
    at_once: int,
    baselines: bool,
    progress: Callable[[], None],
) -> tuple[FaithfulnessResult, Compared]:
    async with judge_apart(settings) as judge:
        result = await evaluate_faithfulness(rows, judge, at_once=at_once, progress=progress)
    verdicts = [one.verdict for one in result.judged]
    ways = [by_verdict(OURS, verdicts)]
    if baselines:
        encoder = await open_encoder(settings)
        ways += [
            await by_words(LexicalJudge(), rows),
            by_threshold(verdicts),
            await by_cosine(encoder, rows, verdicts),
        ]
    return result, Compared(tuple(rows), (*ways, flag_all(rows)))
