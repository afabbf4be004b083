"""`sekisho evaluate compare`: two runs, case by case; the exit code says whether the thresholds hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from evaluation.answers.comparison import Comparison, Moved, compare
from evaluation.answers.journal import Results
from evaluation.answers.junit import write_junit
from evaluation.answers.report import write_comparison
from evaluation.answers.runs import open_results
from evaluation.answers.summary import good_of, summarise
from evaluation.answers.thresholds import Check, checks, read_thresholds
from evaluation.command_line import Json, bar, tell

__all__ = ["compare_command"]

SHOWN = 10  # cases of each direction in the table

Before = Annotated[Path, typer.Argument(help="The folder of the run before.")]
After = Annotated[Path, typer.Argument(help="The folder of the run now.")]
ThresholdFile = Annotated[
    Path | None, typer.Option("--thresholds", help="YAML: what must hold; exit code 1 if it does not.")
]
Junit = Annotated[Path | None, typer.Option(help="Write JUnit XML there, for CI.")]
Report = Annotated[Path | None, typer.Option(help="Write both runs side by side there, as HTML.")]
GoodFrom = Annotated[str | None, typer.Option("--good", help="What a good answer is: METRIC:SCORE.")]


def compare_command(
    before: Before,
    after: After,
    thresholds: ThresholdFile = None,
    junit: Junit = None,
    report: Report = None,
    good: GoodFrom = None,
    json_file: Json = None,
) -> None:
    """Two runs of the same cases: what got better, what got worse, and whether chance could have done it."""
    wanted = read_thresholds(thresholds) if thresholds else None
    old, new = open_results(before), open_results(after)
    metrics = list(next(iter(new)).metrics)
    good_is = good_of(good, metrics)
    with bar(len(new), "comparing") as progress:
        found = compare(old, new, good_is, progress=progress)
    summary = summarise(new, good_is, metrics)
    verdicts = checks(wanted, found, summary) if wanted else []
    figures = {**found.as_json(), "thresholds": [_check_json(one) for one in verdicts]}
    tell([*_tables(found, old, new), *_check_table(verdicts)], figures, json_file)
    if junit:
        write_junit(junit, found, verdicts)
    if report:
        write_comparison(report, found, old, new, good_is, verdicts)
    if not all(one.kept for one in verdicts):
        raise typer.Exit(1)


def _tables(found: Comparison, before: Results, after: Results) -> list[Table]:
    title = f"{found.n} cases in pairs"
    if found.rewritten:
        title += f"; {len(found.rewritten)} rewritten since, not compared"
    if found.only_before or found.only_after:
        title += f"; {found.only_before} only before, {found.only_after} only now"
    metrics = Table(
        "metric", "before", "now", "difference, 95 % interval", "p (Wilcoxon)", "pairs", title=title
    )
    for name, change in found.metrics.items():
        told, interval = change.as_json(), change.ci95
        spread = f"  [{interval[0]:+.3f}, {interval[1]:+.3f}]" if interval else ""
        metrics.add_row(
            name, _number(told["before"]), _number(told["after"]),
            "–" if told["delta"] is None else f"{told['delta']:+.3f}{spread}",
            "–" if told["p"] is None else f"{told['p']:.2g}", str(told["n"]),
        )  # fmt: skip
    good = found.good
    metrics.caption = (
        f"good answers: {good.before.value or 0:.1%} → {good.after.value or 0:.1%}, "
        f"won {good.became_good}, lost {good.became_bad} (McNemar p {good.p:.2g})\n"
        f"from verified entries: {found.cached.unchanged} unchanged word for word, "
        f"{len(found.cached.changed)} changed, {found.cached.new} new"
    )
    return [
        metrics,
        *_moved("worse", found.worse, before, after),
        *_moved("better", found.better, before, after),
    ]


def _moved(name: str, moved: Sequence[Moved], before: Results, after: Results) -> list[Table]:
    if not moved:
        return []
    table = Table("case", "before", "now", "scores", title=f"{name}: {len(moved)}")
    for one in moved[:SHOWN]:
        scores = ", ".join(f"{metric} {delta:+.2f}" for metric, delta in one.deltas.items() if delta)
        table.add_row(one.id, _answer(before, one.id), _answer(after, one.id), scores)
    return [table]


def _answer(results: Results, case_id: str) -> str:
    found = results.get(case_id)
    text = "" if found is None else found.said.answer if found.said else f"failed: {found.error}"
    return text if len(text) <= 120 else text[:119] + "…"


def _check_table(verdicts: Sequence[Check]) -> list[Table]:
    if not verdicts:
        return []
    table = Table("threshold", "found", "", title="thresholds")
    for one in verdicts:
        table.add_row(one.name, one.told, Text("kept", "green") if one.kept else Text("missed", "red"))
    return [table]


def _check_json(one: Check) -> dict[str, object]:
    return {"name": one.name, "kept": one.kept, "told": one.told}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
