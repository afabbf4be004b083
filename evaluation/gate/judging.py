"""Whom the gate lets through, slice by slice. A must-question counts as refused unless it is let through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from classifiers.gate import GateVerdict
from encoders import Encoder, encode_one
from evaluation.cases import GateCase
from evaluation.fitted_on import FittedTexts, LeftOut
from evaluation.gate.words_baseline import WordsBaseline
from evaluation.statistics import Rate, auroc, percentiles
from gateway.stages import Gate

__all__ = ["GateResult", "JudgedQuestion", "SliceResult", "evaluate_gate"]

TENANT = "default"


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A case with its verdict."""

    case: GateCase
    verdict: GateVerdict
    ms: float
    seen: bool = False  # the gate was fitted on it, and its slice holds nothing else
    words: float | None = None  # score of the baseline

    @property
    def let_through(self) -> bool:
        """The question reaches cache and RAG."""
        return self.verdict.label == "must"


@dataclass(frozen=True, slots=True)
class SliceResult:
    """One slice of the file, against the must-questions of the same file."""

    n: int
    gold: str
    reach_rag: Rate
    as_must_not: Rate
    unsure: Rate
    auroc: float | None  # None for must-slices: they are what the others are ranked against
    words_reach_rag: Rate | None  # of the baseline, if there is one
    words_auroc: float | None
    seen: bool  # nothing but what the gate was fitted on: memory, no measurement

    @property
    def wrong(self) -> Rate:
        """Refused, of a must-slice; let through, of any other."""
        through = self.reach_rag
        return Rate(through.n - through.count, through.n) if self.gold == "must" else through


@dataclass(frozen=True, slots=True)
class GateResult:
    """All verdicts over a file."""

    judged: tuple[JudgedQuestion, ...]
    left_out: tuple[LeftOut, ...] = ()
    with_words: bool = False  # a baseline judged, too

    @property
    def must(self) -> list[JudgedQuestion]:
        """The must-questions that measure something; if none does, those there are."""
        must = [one for one in self.judged if one.case.gold == "must"]
        return [one for one in must if not one.seen] or must

    @property
    def false_refusals(self) -> Rate:
        """Must-questions that were not let through."""
        return Rate(sum(not one.let_through for one in self.must), len(self.must))

    @property
    def words_false_refusals(self) -> Rate | None:
        """The same of the baseline."""
        return None if not self.with_words else _inverse(self._words_through(self.must))

    def of_class(self, gold: str) -> dict[str, Rate]:
        """What becomes of a class: let through, called each of the others, unsure."""
        labels = [one.verdict.label for one in self.judged if one.case.gold == gold and not one.seen]
        return {name: Rate(labels.count(name), len(labels)) for name in ("must", "may", "must_not", "unsure")}

    def _words_through(self, judged: Iterable[JudgedQuestion]) -> Rate:
        scores = _word_scores(judged)
        return Rate(sum(score >= 0 for score in scores), len(scores))

    def by_slice(self) -> dict[str, list[JudgedQuestion]]:
        """The questions of every slice; a slice that holds several classes is split by class."""
        names = dict.fromkeys((one.case.slice, one.case.gold) for one in self.judged)
        mixed = {name for name, _ in names if sum(other == name for other, _ in names) > 1}
        return {
            f"{name}/{gold}" if name in mixed else name: [
                one for one in self.judged if (one.case.slice, one.case.gold) == (name, gold)
            ]
            for name, gold in names
        }

    def slices(self) -> dict[str, SliceResult]:
        """Every slice with its rates."""
        return {name: self._slice(judged) for name, judged in self.by_slice().items()}

    def _slice(self, judged: Sequence[JudgedQuestion]) -> SliceResult:
        gold = judged[0].case.gold
        must_words = _word_scores(self.must)
        ranked = gold != "must"
        return SliceResult(
            n=len(judged),
            gold=gold,
            reach_rag=Rate(sum(one.let_through for one in judged), len(judged)),
            as_must_not=Rate(sum(one.verdict.label == "must_not" for one in judged), len(judged)),
            unsure=Rate(sum(one.verdict.label == "unsure" for one in judged), len(judged)),
            auroc=auroc(_scores(self.must), _scores(judged)) if ranked else None,
            words_reach_rag=None if not self.with_words else self._words_through(judged),
            words_auroc=auroc(must_words, _word_scores(judged)) if ranked else None,
            seen=all(one.seen for one in judged),
        )

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract."""
        return {
            "must_false_refusal_rate": self.false_refusals.value,
            "slices": {
                name: {
                    "n": part.n,
                    "gold": part.gold,
                    "reach_rag_rate": part.reach_rag.value,
                    "ci95": part.reach_rag.ci95,
                    "as_must_not_rate": part.as_must_not.value,
                    "auroc": part.auroc,
                    "unsure_rate": part.unsure.value,
                    "seen": part.seen,
                    "words_reach_rag_rate": part.words_reach_rag.value if part.words_reach_rag else None,
                    "words_auroc": part.words_auroc,
                }
                for name, part in self.slices().items()
            },
            "left_out": len(self.left_out),
            "latency_ms": percentiles(one.ms for one in self.judged),
        }


async def evaluate_gate(
    cases: Sequence[GateCase],
    gate: Gate,
    encoder: Encoder,
    *,
    fitted: FittedTexts | None = None,
    baseline: WordsBaseline | None = None,
    progress: Callable[[], None] = lambda: None,
) -> GateResult:
    """Judge every question; the time is the gate's own, beyond the shared embedding.

    What the gate was fitted on is left out, but for slices that hold nothing else: those are marked.
    """
    measured, only_seen, left_out = _parted(cases, fitted)
    asked = [*measured, *only_seen]
    words = baseline.scores([case.text for case in asked]) if baseline else [None] * len(asked)
    judged = []
    for place, (case, score) in enumerate(zip(asked, words, strict=True)):
        encoded = await encode_one(encoder, case.text)
        started = perf_counter()
        verdict = await gate.judge(encoded, tenant=TENANT)
        ms = (perf_counter() - started) * 1000
        judged.append(JudgedQuestion(case, verdict, ms, seen=place >= len(measured), words=score))
        progress()
    return GateResult(tuple(judged), left_out, with_words=baseline is not None)


def _parted(
    cases: Sequence[GateCase], fitted: FittedTexts | None
) -> tuple[Sequence[GateCase], Sequence[GateCase], tuple[LeftOut, ...]]:
    """What measures, what stands in a slice of seen texts alone, and what is left out of the others."""
    if fitted is None:
        return cases, (), ()
    unseen = fitted.unseen(cases)
    measuring = {(case.slice, case.gold) for case in unseen.cases}
    only_seen = [case for case in cases if (case.slice, case.gold) not in measuring]
    repeated = {case.text for case in only_seen}
    return unseen.cases, only_seen, tuple(one for one in unseen.left_out if one.text not in repeated)


def _inverse(rate: Rate) -> Rate:
    return Rate(rate.n - rate.count, rate.n)


def _scores(judged: Iterable[JudgedQuestion]) -> list[float]:
    return [one.verdict.score for one in judged]


def _word_scores(judged: Iterable[JudgedQuestion]) -> list[float]:
    return [one.words for one in judged if one.words is not None]
