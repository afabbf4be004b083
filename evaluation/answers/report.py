"""A run, or two of them, as one HTML file that needs nothing else: no script, no outside address."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evaluation.answers.comparison import Comparison, Moved, compare
from evaluation.answers.journal import Results
from evaluation.answers.quadrants import quadrant_of
from evaluation.answers.readable import readable
from evaluation.answers.results import CaseResult
from evaluation.answers.runs import Finished
from evaluation.answers.summary import STOP_AT, Good, Summary
from evaluation.answers.thresholds import Check
from evaluation.pages import write_page
from evaluation.statistics import Rate

__all__ = ["worst_first", "write_comparison", "write_report"]

WORST = 60  # cases that can be opened in the page
MOVED = 40  # cases of each direction that are shown side by side
_TARGETS = {"gateway": "the gateway", "upstream": "the chatbot alone", "recorded": "recorded answers"}


def write_report(
    file: Path, run: Finished, summary: Summary, *, cost: str, note: str = "", before: Results | None = None
) -> None:
    """Write the report of a run, beside the run before if there is one.

    Raises:
        InvalidRequest: if the file can't be written.
    """
    results, figures, null = run.results, summary.as_json(), summary.null_context
    compared = compare(before, results, summary.good_is) if before else None
    who, _, version = run.identity.target.partition(":")
    target = _TARGETS.get(who, who)
    write_page(
        file,
        "report.html",
        readable=readable,
        title=f"{run.plan.file.name}: {target}",
        about=f"{len(run.plan):,} cases, answered by {target}{f' ({version})' if version else ''}.",
        note=note,
        summary=summary,
        good=summary.good,
        good_is=summary.good_is,
        undetermined_good=figures["good"]["undetermined"],
        stop_at=STOP_AT,
        metrics={name: summary.metric(name) for name in summary.metrics},
        null=null,
        left_open=Rate(null.declined_null, null.declined_null + null.answered_null),
        unsaid=sum(one.answerable is None or one.outcome == "error" for one in summary.seen),
        false_positives=figures["false_positives"],
        smallest_k=figures["smallest_k"],
        cost=cost.removeprefix("cost: ").capitalize(),
        latency=figures["latency_ms"],
        quadrant=quadrant_of(summary),
        by_lang=figures["by_lang"],
        by_tag=figures["by_tag"],
        worst=worst_first(results, summary.good_is, WORST),
        versions="Measured by " + ", ".join(f"{name}: {v}" for name, v in run.identity.metrics.items()) + ".",
        **_compared(compared, before, results),
    )


def write_comparison(
    file: Path, found: Comparison, before: Results, after: Results, good: Good, checks: Sequence[Check]
) -> None:
    """Write two runs side by side.

    Raises:
        InvalidRequest: if the file can't be written.
    """
    write_page(
        file,
        "compare.html",
        readable=readable,
        title=f"{before.file.parent.name} → {after.file.parent.name}",
        about=f"A good answer: {good.metric} ≥ {good.at_least:g}.",
        good_is=good,
        checks=checks,
        **_compared(found, before, after),
    )


def worst_first(results: Iterable[CaseResult], good: Good, most: int) -> list[CaseResult]:
    """What failed, then what is not good by its score, then what could not be judged."""
    return heapq.nsmallest(most, results, key=lambda one: _badness(one, good))


def _badness(one: CaseResult, good: Good) -> tuple[int, float]:
    value = one.value(good.metric)
    if one.said is None:
        return 0, 0.0
    match good.of(one):
        case False:
            made_up = one.case.answerable is False
            return 1, -1.0 if made_up else (value if value is not None else 2.0)
        case None:
            return 2, 0.0
        case _:
            return 3, value if value is not None else 1.0


def _compared(found: Comparison | None, before: Results | None, after: Results) -> dict[str, Any]:
    if found is None or before is None:
        return {"comparison": None}
    return {
        "comparison": found,
        "worse_pairs": _pairs(found.worse[:MOVED], before, after),
        "better_pairs": _pairs(found.better[:MOVED], before, after),
    }


def _pairs(moved: Sequence[Moved], before: Results, after: Results) -> list[tuple[Moved, Any, Any]]:
    return [(one, before.get(one.id), after.get(one.id)) for one in moved]
