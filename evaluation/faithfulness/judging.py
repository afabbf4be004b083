"""How well unsupported answers are told from supported ones. "Positive" is the unfaithful answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from classifiers import ClassifierError
from classifiers.faithfulness import Checked, FaithfulnessVerdict, Unchecked
from evaluation.cases import Answer
from evaluation.statistics import (
    Rate,
    auroc,
    auroc_within_group,
    f1,
    percentiles,
    recall_at_false_positive_rate,
)
from gateway.stages import Judge

__all__ = ["FaithfulnessResult", "Judged", "evaluate_faithfulness"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with its verdict."""

    case: Answer
    verdict: FaithfulnessVerdict
    ms: float

    @property
    def wrong(self) -> bool:
        """Delivered though unfaithful, or kept back though faithful."""
        return self.flagged is self.case.faithful

    @property
    def flagged(self) -> bool:
        """Not delivered: a statement is unsupported, or nothing was checked."""
        return not (isinstance(self.verdict, Checked) and self.verdict.passed)


@dataclass(frozen=True, slots=True)
class FaithfulnessResult:
    """All verdicts over a file; unchecked answers count as flagged, and have no place in a ranking."""

    judged: tuple[Judged, ...]
    at_once: int = 1  # how many were judged side by side, which each one's time depends on

    def rates(self) -> dict[str, Rate]:
        """Precision, recall and false blocks, with what they are rates of."""
        flagged = [one for one in self.judged if one.flagged]
        unfaithful = [one for one in self.judged if not one.case.faithful]
        faithful = [one for one in self.judged if one.case.faithful]
        return {
            "precision": Rate(sum(not one.case.faithful for one in flagged), len(flagged)),
            "recall": Rate(sum(one.flagged for one in unfaithful), len(unfaithful)),
            "false blocks": Rate(sum(one.flagged for one in faithful), len(faithful)),
            "unchecked": Rate(
                sum(not isinstance(one.verdict, Checked) for one in self.judged), len(self.judged)
            ),
        }

    def worst(self, count: int) -> list[Judged]:
        """What was decided wrongly, the judge's surest errors first."""
        wrong = [one for one in self.judged if one.wrong]
        return sorted(wrong, key=lambda one: -abs(_suspicion(one) - (not one.case.faithful)))[:count]

    def parts(self, named: Callable[[Answer], Sequence[str]]) -> dict[str, FaithfulnessResult]:
        """The verdicts by what the rows are called; a row may have several names, or none."""
        names = sorted({name for one in self.judged for name in named(one.case)})
        return {
            name: FaithfulnessResult(tuple(one for one in self.judged if name in named(one.case)))
            for name in names
        }

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract."""
        rates = self.rates()
        unfaithful = [not one.case.faithful for one in self.judged]
        ranked = [one for one in self.judged if isinstance(one.verdict, Checked)]
        suspicion = [_suspicion(one) for one in ranked]
        bad = [score for score, one in zip(suspicion, ranked, strict=True) if not one.case.faithful]
        good = [score for score, one in zip(suspicion, ranked, strict=True) if one.case.faithful]
        return {
            "n": len(self.judged),
            "unfaithful": sum(unfaithful),
            "auroc": auroc(bad, good),
            "auroc_within_group": auroc_within_group(
                suspicion, [not one.case.faithful for one in ranked], [one.case.group for one in ranked]
            ),
            "precision": rates["precision"].value,
            "recall": rates["recall"].value,
            "f1": f1([one.flagged for one in self.judged], unfaithful),
            "flag_all_f1": f1([True] * len(unfaithful), unfaithful),
            "recall_at_5pct_false_block": recall_at_false_positive_rate(bad, good, 0.05),
            "unchecked": rates["unchecked"].count,
            "latency_ms": percentiles(one.ms for one in self.judged),
        }


async def evaluate_faithfulness(
    cases: Sequence[Answer],
    judge: Judge,
    *,
    at_once: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> FaithfulnessResult:
    """Judge every answer, at most `at_once` at a time; one that the judge can't judge is unchecked."""
    lane = asyncio.Semaphore(at_once)

    async def judged(case: Answer) -> Judged:
        async with lane:
            started = perf_counter()
            try:
                verdict = await judge.judge(case.answer, case.contexts, question=case.question)
            except ClassifierError as exc:  # as the pipeline has it
                verdict = Unchecked(reason=str(exc), judge="none")
            ms = (perf_counter() - started) * 1000
        progress()
        return Judged(case, verdict, ms)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(judged(case)) for case in cases]
    return FaithfulnessResult(tuple(task.result() for task in tasks), at_once)


def _suspicion(one: Judged) -> float:
    return 1 - one.verdict.score if isinstance(one.verdict, Checked) else 1.0
