"""The figures of a run, from its results one by one: only numbers are kept of a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from evaluation.answers.results import CaseResult, MetricResult
from evaluation.metrics import Score
from evaluation.metrics.aggregates import NullContexts, false_positives, separated, smallest_k
from evaluation.statistics import Rate, percentiles
from gateway.domain import Tokens
from gateway.errors import InvalidRequest

__all__ = [
    "STOP_AT",
    "Good",
    "MetricFigures",
    "Seen",
    "Summary",
    "declined",
    "good_of",
    "mean_interval",
    "summarise",
]

STOP_AT = 0.9  # the owner's rule: stop testing once so many answers are good, with 95 % confidence
_GOOD_FROM = 0.7  # where a score counts as good unless --good says otherwise; a convention, not a finding
CORRECTNESS = ("answer_correctness", "answer_correctness_llm")
DECIDES = (*CORRECTNESS, "semantic_similarity", "faithfulness")  # the first one measured
BINS = 20
GROUPS = 30  # by language or tag
_FIGURED = {**dict.fromkeys(CORRECTNESS, ("false_positives",)), "context_recall": ("smallest_k",)}
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Good:
    """What counts as a good answer: a metric, from a score on. What can't be answered should not be."""

    metric: str
    at_least: float = _GOOD_FROM

    def of(self, result: CaseResult) -> bool | None:
        """None where it can't be told: the metric is undetermined, or the target failed."""
        if result.said is None:
            return None
        if result.case.answerable is False:
            return declined(result)
        if declined(result):
            return False
        value = result.value(self.metric)
        return None if value is None else value >= self.at_least


def declined(result: CaseResult) -> bool:
    """Whether no answer was given: by the outcome, or in words, where that was measured."""
    null = result.metrics.get("null_context")
    if null and "taken_for_null" in null.steps:
        return bool(null.steps["taken_for_null"])
    return not (result.said and result.said.answered)


def good_of(wish: str | None, metrics: Sequence[str]) -> Good:
    """`answer_correctness:0.8`, or by default the first metric measured that speaks of the whole answer.

    Raises:
        InvalidRequest: if it can't be read, or its metric is not measured.
    """
    if wish is None:
        return Good(next((one for one in DECIDES if one in metrics), metrics[0]))
    name, _, cut = wish.partition(":")
    if name not in metrics:
        raise InvalidRequest(f"--good: {name} is not measured; expected one of {', '.join(metrics)}")
    try:
        at_least = float(cut) if cut else _GOOD_FROM
    except ValueError as exc:
        raise InvalidRequest(f"--good: expected METRIC:SCORE such as {name}:0.7, found “{wish}”") from exc
    if not 0 <= at_least <= 1:
        raise InvalidRequest(f"--good: expected a score from 0 to 1, found {cut}")
    return Good(name, at_least)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is kept of a case: its numbers."""

    id: str
    lang: str
    tags: tuple[str, ...]
    outcome: str
    answerable: bool | None
    answered: bool
    good: bool | None
    ms: float
    scores: Mapping[str, Score]  # with no more steps than figures are made of

    @property
    def values(self) -> dict[str, float]:
        """The numbers alone."""
        return {name: score.value for name, score in self.scores.items()}


@dataclass(frozen=True, slots=True)
class MetricFigures:
    """A metric over all cases: determined ones have a place in the mean, the others are counted."""

    values: Sequence[float]
    reasons: Mapping[str, int]  # why so many are undetermined

    @property
    def undetermined(self) -> int:
        return sum(self.reasons.values())

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.values)) if len(self.values) else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Of the mean, by bootstrap."""
        return mean_interval(self.values)

    @property
    def histogram(self) -> list[int]:
        """Cases by score, in equal steps from 0 to 1."""
        return [int(n) for n in np.histogram(self.values, bins=BINS, range=(0, 1))[0]]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        found = np.quantile(self.values, (0.1, 0.5, 0.9)).tolist() if len(self.values) else [None] * 3
        return {
            "n": len(self.values),
            "mean": self.mean,
            "ci95": self.ci95,
            **dict(zip(("p10", "p50", "p90"), found, strict=True)),
            "histogram": self.histogram,
            "undetermined": self.undetermined,
            "reasons": dict(self.reasons),
        }  # fmt: skip


@dataclass(slots=True)
class Summary:
    """A run in figures."""

    good_is: Good
    metrics: Sequence[str]
    seen: list[Seen] = field(default_factory=list)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    target_tokens: Tokens = field(default_factory=lambda: Tokens(0, 0))
    judge_tokens: Tokens = field(default_factory=lambda: Tokens(0, 0))

    def add(self, result: CaseResult) -> None:
        """Count a case."""
        said = result.said
        scores = {}
        for name in self.metrics:
            found = result.metrics.get(name)
            if found and found.value is not None:
                scores[name] = _slim(name, found)
            else:
                self.reasons.setdefault(name, Counter())[found.reason if found else "not measured"] += 1
        if said is None:
            self.errors[result.error] += 1
        self.target_tokens = _sum(self.target_tokens, said.tokens if said else None)
        self.judge_tokens = _sum(self.judge_tokens, result.judge_tokens)
        self.seen.append(
            Seen(
                id=result.case.id, lang=result.case.lang, tags=result.case.tags,
                outcome=said.outcome if said else "error", answerable=result.case.answerable,
                answered=not declined(result), good=self.good_is.of(result),
                ms=said.ms if said else 0.0, scores=scores,
            )
        )  # fmt: skip

    @property
    def good(self) -> Rate:
        """Good answers of all cases: what is undetermined is not known to be good."""
        return Rate(sum(one.good is True for one in self.seen), len(self.seen))

    @property
    def stop(self) -> bool:
        """Whether testing may stop: the interval of the good answers lies above the rule."""
        interval = self.good.ci95
        return interval is not None and interval[0] >= STOP_AT

    @property
    def outcomes(self) -> dict[str, int]:
        return dict(Counter(one.outcome for one in self.seen).most_common())

    def metric(self, name: str) -> MetricFigures:
        """A metric's figures."""
        values = [one.scores[name].value for one in self.seen if name in one.scores]
        return MetricFigures(values, self.reasons.get(name, Counter()))

    @property
    def null_context(self) -> NullContexts:
        """Does it know that nothing answers a question? Cases of which nobody said so are left out."""
        kinds = Counter((one.answerable, one.answered) for one in self.seen if one.outcome != "error")
        return NullContexts(
            declined_null=kinds[False, False],
            declined_answerable=kinds[True, False],
            answered_null=kinds[False, True],
            answered_answerable=kinds[True, True],
        )

    def groups(self, by: Callable[[Seen], Iterable[str]]) -> dict[str, list[Seen]]:
        """Cases by language or tag, the largest groups first, and only those."""
        found: dict[str, list[Seen]] = {}
        for one in self.seen:
            for name in by(one):
                found.setdefault(name, []).append(one)
        return dict(sorted(found.items(), key=lambda item: -len(item[1]))[:GROUPS])

    def quadrant(self, retrieved: str, written: str) -> list[tuple[float, float]]:
        """Both scores of every case that has them: was it found, was it written rightly."""
        return [
            (one.scores[retrieved].value, one.scores[written].value)
            for one in self.seen
            if retrieved in one.scores and written in one.scores
        ]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        null, good = self.null_context, self.good
        return {
            "n": len(self.seen),
            "outcomes": self.outcomes,
            "errors": dict(self.errors),
            "good": {
                "metric": self.good_is.metric, "at_least": self.good_is.at_least, "n": good.count,
                "share": good.value, "ci95": good.ci95, "stop_at": STOP_AT, "stop": self.stop,
                "undetermined": sum(one.good is None for one in self.seen),
            },
            "metrics": {name: self.metric(name).as_json() for name in self.metrics},
            "null_context": {**asdict(null), "recall": null.recall, "precision": null.precision},
            **self._origins(),
            "by_lang": self._by(lambda one: [one.lang]),
            "by_tag": self._by(lambda one: one.tags),
            "tokens": {
                "target": {"read": self.target_tokens.read, "written": self.target_tokens.written},
                "judge": {"read": self.judge_tokens.read, "written": self.judge_tokens.written},
            },
            "latency_ms": percentiles(one.ms for one in self.seen if one.outcome != "error"),
        }  # fmt: skip

    def _origins(self) -> dict[str, Any]:
        """Retrieval and writing apart, and where false statements come from, if that was measured."""
        cases = [one.scores for one in self.seen]
        right = next((name for name in CORRECTNESS if name in self.metrics), CORRECTNESS[0])
        apart, wrong = separated(cases, correctness=right), false_positives(cases, metric=right)
        return {
            "separated": {
                "writing": apart.writing, "n": len(apart.complete),
                "without_contexts": apart.without_contexts, "n_without": len(apart.incomplete),
            },
            "false_positives": {**asdict(wrong), "invented_share": wrong.invented_share},
            "smallest_k": smallest_k(cases),
        }  # fmt: skip

    def _by(self, by: Callable[[Seen], Iterable[str]]) -> dict[str, Any]:
        return {name: _group(cases, self.metrics) for name, cases in self.groups(by).items()}


def summarise(results: Iterable[CaseResult], good: Good, metrics: Sequence[str]) -> Summary:
    """The figures of these results."""
    summary = Summary(good, metrics)
    for result in results:
        summary.add(result)
    return summary


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % of the mean, by bootstrap with a fixed seed; None where there is nothing to draw from."""
    if len(values) < 2:
        return None
    if len(set(values)) == 1:  # every draw is the same
        return values[0], values[0]
    found = bootstrap(
        (np.asarray(values),), np.mean, n_resamples=RESAMPLES, batch=100, method="percentile", rng=0
    ).confidence_interval
    return float(found.low), float(found.high)


def _group(cases: Sequence[Seen], metrics: Sequence[str]) -> dict[str, Any]:
    good = Rate(sum(one.good is True for one in cases), len(cases))
    means = {}
    for name in metrics:
        values = [one.scores[name].value for one in cases if name in one.scores]
        means[name] = float(np.mean(values)) if values else None
    return {"n": len(cases), "good": good.value, "ci95": good.ci95, "means": means}


def _slim(name: str, found: MetricResult) -> Score:
    kept = {key: found.steps[key] for key in _FIGURED.get(name, ()) if key in found.steps}
    if "false_positives" in kept:
        kept["false_positives"] = [{"from": each["from"]} for each in kept["false_positives"]]
    return Score(found.value or 0.0, kept)


def _sum(one: Tokens, other: Tokens | None) -> Tokens:
    return Tokens(one.read + other.read, one.written + other.written) if other else one
