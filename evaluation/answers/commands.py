"""`sekisho evaluate answers`: cases through a target, measured, reported."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer
import uvloop
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evaluation.answers.lanes import Executor, open_lanes
from evaluation.answers.report import write_report
from evaluation.answers.results import CaseResult
from evaluation.answers.runs import Finished, Plan, Start, checked_cases, open_results, run_cases, run_folder
from evaluation.answers.sheet import write_sheet
from evaluation.answers.summary import Summary, good_of, summarise
from evaluation.answers.tables import cost_line, start_lines, summary_tables
from evaluation.answers.worker import Job
from evaluation.command_line import Config, Json, console, errors, tell
from evaluation.metrics.registry import DEFAULT, METRICS
from gateway.configuration.loading import find_settings
from gateway.errors import InvalidRequest

__all__ = ["answers_command"]

OWN_JUDGE = (
    "faithfulness is judged by the gateway's own judge, of answers that it let pass: no independent figure"
)

FEW = 200  # cases; for fewer, starting processes takes longer than it saves

Cases = Annotated[Path, typer.Option(help="JSONL, CSV or XLSX: question, ground_truth, ground_contexts …")]
TargetName = Annotated[
    Literal["gateway", "upstream", "recorded"],
    typer.Option(help="The whole way, the chatbot alone, or the answers in the file."),
]
Metrics = Annotated[
    str | None,
    typer.Option(help=f"With commas between, of {', '.join(METRICS)}. Default: {', '.join(DEFAULT)}."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="The run's folder; a second run there goes on. Default: runs/CASES-TARGET, -HOST of --url."
    ),
]
Url = Annotated[str | None, typer.Option(help="Ask a running gateway there.", envvar="SEKISHO_URL")]
Key = Annotated[str, typer.Option(help="The API key for --url.", envvar="SEKISHO_KEY")]
Entries = Annotated[
    list[Path] | None, typer.Option(help="Verified entries for the gateway's shelf, besides those it serves.")
]
Concurrency = Annotated[int, typer.Option(help="Cases under way at once in each worker.", min=1, max=256)]
Workers = Annotated[
    int | None,
    typer.Option(
        help="Processes, or actors of Ray. Default: one, or one a core where nobody is paid.", min=1
    ),
]
On = Annotated[Executor, typer.Option(help="This machine, or the Ray cluster of RAY_ADDRESS.")]
GoodFrom = Annotated[str | None, typer.Option("--good", help="What a good answer is: METRIC:SCORE.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask and measure everything again.")]
Against = Annotated[
    Path | None, typer.Option(help="The run to compare with. Default: the last other one in --out.")
]
Note = Annotated[str, typer.Option(help="What readers of the report should know.")]
Tenant = Annotated[str, typer.Option(help="As whose asker.")]


def answers_command(
    cases: Cases,
    target: TargetName = "gateway",
    config: Config = None,
    metrics: Metrics = None,
    out: Out = None,
    url: Url = None,
    key: Key = "",
    entries: Entries = None,
    concurrency: Concurrency = 8,
    workers: Workers = None,
    executor: On = "local",
    good: GoodFrom = None,
    fresh: Fresh = False,
    against: Against = None,
    note: Note = "",
    tenant: Tenant = "default",
    json_file: Json = None,
) -> None:
    """Are the answers good enough, and which are worst? An interrupted run goes on where it was."""
    settings = find_settings(config)
    plan = checked_cases(cases, settings.understanding.default_language)
    named = metrics.split(",") if metrics else DEFAULT
    names = tuple(name.strip() for name in named if name.strip())
    if not names:
        raise InvalidRequest("--metrics: expected the name of a metric")
    job = Job(
        settings=settings, target=target, metrics=names, concurrency=concurrency, url=url, key=key,
        entries=tuple(entries or ()), tenant=tenant,
    )  # fmt: skip
    good_is = good_of(good, names)
    at_once = workers or _workers(job, len(plan))
    with run_folder(out or Path("runs") / "-".join([cases.stem, target, *_host(url)])) as folder:
        finished = _run(job, plan, folder, executor, at_once, fresh=fresh)
        summary = summarise(finished.results, good_is, names)
        cost = cost_line(summary, settings, kept=finished.start.kept)
        figures = {**summary.as_json(), "cases": cases.name, "of": finished.identity.as_json(), "cost": cost}
        tell(summary_tables(summary), figures, json_file)
        console.print(cost)
        notes = [note] * bool(note) + [OWN_JUDGE] * _judges_itself(job)
        if _judges_itself(job):
            console.print(OWN_JUDGE)
        _write(finished, summary, figures, "; ".join(notes), against)


def _host(url: str | None) -> list[str]:
    """What tells a running gateway, in a folder's name, from others and from one opened for the run."""
    return [re.sub(r"[^\w.]+", "-", urlsplit(url).netloc.rpartition("@")[2])] if url else []


def _judges_itself(job: Job) -> bool:
    """Whether the judge that decides what is delivered measures it, too."""
    checked = job.settings.faithfulness.judge != "off"
    return checked and job.target == "gateway" and "faithfulness" in job.metrics


def _run(job: Job, plan: Plan, folder: Path, executor: Executor, workers: int, *, fresh: bool) -> Finished:
    async def work() -> Finished:
        with _bar(len(plan)) as (started, progress):
            async with open_lanes(executor, job, workers=workers) as lanes:
                return await run_cases(plan, lanes, folder, fresh=fresh, started=started, progress=progress)

    try:
        return uvloop.run(work())
    except KeyboardInterrupt:
        console.print(f"stopped; what is finished is kept in {folder}: the same command goes on from there")
        raise typer.Exit(130) from None


def _workers(job: Job, n: int) -> int:
    """One a core for local work; what is paid for, or waited for, is asked from here."""
    return 1 if job.waits or n < FEW else len(os.sched_getaffinity(0))


def _write(
    finished: Finished, summary: Summary, figures: dict[str, object], note: str, against: Path | None
) -> None:
    folder = finished.folder
    before = open_results(against) if against else finished.previous
    (folder / "summary.json").write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", "utf-8")
    with console.status("writing the report"):
        write_report(
            folder / "report.html", finished, summary, cost=str(figures["cost"]), note=note, before=before
        )
        write_sheet(folder / "results.xlsx", finished.results, summary)
    console.print(f"{folder / 'report.html'}, results.xlsx, results.jsonl and summary.json are written")


Started = Callable[[Start], None]
Ticked = Callable[[Sequence[CaseResult]], None]


@contextmanager
def _bar(total: int) -> Iterator[tuple[Started, Ticked]]:
    """A bar of all cases, those done before among them, with what failed and what it took."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, TextColumn("{task.fields[told]}", markup=False), console=errors, transient=True
    ) as bar:
        task = bar.add_task("opening", total=total, told="")
        failed = tokens = 0

        def started(start: Start) -> None:
            for line in start_lines(start, total):
                bar.console.print(line)
            bar.update(task, advance=start.kept, description="answering")

        def progress(results: Sequence[CaseResult]) -> None:
            nonlocal failed, tokens
            failed += sum(one.said is None for one in results)
            tokens += sum(one.spent for one in results)
            told = [f"{failed} failed"] * bool(failed) + [f"{tokens:,} tokens"] * bool(tokens)
            bar.update(task, advance=len(results), told=", ".join(told))

        yield started, progress
