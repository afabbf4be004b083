"""`sekisho evaluate faithfulness` and `sekisho calibrate faithfulness`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from classifiers.faithfulness.lexical import LexicalJudge
from evaluation.cases import Answer, read_cases
from evaluation.command_line import Config, Json, Report, bar, console, tell
from evaluation.faithfulness.calibration import (
    FaithfulnessCalibration,
    answer_digest,
    calibrate_faithfulness,
    reviewed_answers,
)
from evaluation.faithfulness.judging import FaithfulnessResult, evaluate_faithfulness
from evaluation.faithfulness.report import WORST, write_faithfulness_report
from evaluation.faithfulness.tables import calibration_tables, faithfulness_tables, worst_table
from evaluation.faithfulness.ways import (
    OURS,
    Compared,
    by_cosine,
    by_threshold,
    by_verdict,
    by_words,
    flag_all,
)
from evaluation.fitted_on import judge_sources
from evaluation.served import served_judge
from gateway.checking.opening import judge_apart
from gateway.checking.promises import FaithfulnessPromises, MadeFor, can_be_cut
from gateway.configuration.loading import find_settings
from gateway.errors import InvalidRequest
from gateway.people.tenants import refuse_unknown
from gateway.settings import Settings
from gateway.stores import open_database, open_encoder

__all__ = ["calibrate_faithfulness_command", "faithfulness_command"]

FIELDS = "answer, contexts, faithful, question, group, lang"
AT_ONCE = 8  # answers that a language model is asked about at a time

Cases = Annotated[
    Path,
    typer.Option(help=f"Answers, and whether their contexts support them, JSONL, CSV or XLSX: {FIELDS}."),
]
Worst = Annotated[int, typer.Option(help="Print so many wrong decisions, the surest first.", min=0)]
AtOnce = Annotated[
    int | None, typer.Option(help="Answers judged at a time; default 1, 8 where a model is asked.", min=1)
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
    settings = find_settings(config)
    rows = read_cases(cases, Answer, settings.understanding.default_language)
    if at_once is None:
        at_once = AT_ONCE if settings.faithfulness.judge in ("llm", "cascade") else 1
    with bar(len(rows)) as progress:
        work = _measured(rows, settings, at_once=at_once, baselines=baselines, progress=progress)
        result, compared, repeated = uvloop.run(work)
    warnings = judge_sources(settings.faithfulness.judge, rows)
    if repeated:
        warnings.append(f"Warning: the cut that serves was calibrated on {repeated} of these answers.")
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
) -> tuple[FaithfulnessResult, Compared, int]:
    async with open_encoder(settings) as encoder:
        async with served_judge(settings, encoder) as (judge, calibrated_on):
            result = await evaluate_faithfulness(rows, judge, at_once=at_once, progress=progress)
        verdicts = [one.verdict for one in result.judged]
        ways = [by_verdict(OURS, verdicts)]
        if baselines:
            ways += [
                await by_words(LexicalJudge(), rows),
                by_threshold(verdicts),
                await by_cosine(encoder, rows, verdicts),
            ]
    repeated = sum(answer_digest(case) in calibrated_on for case in rows)
    return result, Compared(tuple(rows), (*ways, flag_all(rows))), repeated


def calibrate_faithfulness_command(
    cases: Annotated[
        Path | None,
        typer.Option(
            help=f"Answers with their label, JSONL, CSV or XLSX: {FIELDS}. "
            "Default: what reviewers said of RAG's answers."
        ),
    ] = None,
    config: Config = None,
    tenant: Annotated[str, typer.Option(help="Whose reviewers' verdicts.")] = "default",
) -> None:
    """Cut the judge so that it keeps faithfulness.max_false_block, by answers that it was not fitted on."""
    settings = find_settings(config)
    chosen = settings.faithfulness
    if not can_be_cut(chosen):
        found = f"cut is set to {chosen.cut}" if chosen.cut is not None else f"judge is {chosen.judge}"
        raise InvalidRequest(f"faithfulness: {found}, so there is no cut to calibrate")
    if chosen.block == "nothing":
        raise InvalidRequest("faithfulness.block: nothing is kept back, so there is nothing to promise")
    result = uvloop.run(_calibrated(cases, settings, tenant))
    for table in calibration_tables(result, chosen.max_false_block):
        console.print(table)
    if not result.kept:
        raise typer.Exit(1)


async def _calibrated(file: Path | None, settings: Settings, tenant: str) -> FaithfulnessCalibration:
    async with open_database(settings) as database:
        await refuse_unknown(database, settings, tenant)
        audited = settings.cache.audit_rate_rag
        if file:
            rows = read_cases(file, Answer, settings.understanding.default_language)
        else:
            rows = await reviewed_answers(database, tenant, audited=audited)
        if not rows:
            raise InvalidRequest(
                f"reviewers of {tenant} labelled no answer of a fair sample yet: expected --cases, "
                f"or more audits of RAG's answers (cache.audit_rate_rag: {audited:g})"
            )
        async with open_encoder(settings) as encoder, judge_apart(settings) as judge:
            with bar(len(rows)) as progress:
                found = await calibrate_faithfulness(rows, judge, settings.faithfulness, progress=progress)
        if found.promises:
            made_for = MadeFor.of(settings.faithfulness, encoder.identity)
            await FaithfulnessPromises(database, made_for).keep(found.promises, found.used)
        return found
