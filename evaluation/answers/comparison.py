"""Two runs, paired by case: what got better, what got worse, and whether chance could have done it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest, wilcoxon

from evaluation.answers.journal import Results
from evaluation.answers.results import CaseResult
from evaluation.answers.summary import Good, mean_interval
from evaluation.statistics import Rate

__all__ = ["Cached", "Comparison", "GoodChange", "MetricChange", "Moved", "compare"]

SAME = 1e-5  # a cosine differs in the seventh digit by what was encoded beside its texts


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric before and after, over the cases where both runs determined it."""

    before: Sequence[float]
    after: Sequence[float]
    lost: int  # determined before, undetermined now
    won: int  # the reverse
    versions: tuple[str, str]  # of two judges, a difference may be theirs

    @property
    def deltas(self) -> list[float]:
        return [after - before for before, after in zip(self.before, self.after, strict=True)]

    @property
    def delta(self) -> float | None:
        return float(np.mean(self.deltas)) if self.deltas else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Of the mean difference, by bootstrap over pairs."""
        return mean_interval(self.deltas)

    @property
    def p(self) -> float | None:
        """Wilcoxon's signed-rank test: how likely a difference like this is if there is none."""
        moved = [delta for delta in self.deltas if abs(delta) > SAME]
        if not self.deltas:
            return None
        return float(wilcoxon(moved).pvalue) if moved else 1.0

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "n": len(self.before),
            "before": float(np.mean(self.before)) if self.before else None,
            "after": float(np.mean(self.after)) if self.after else None,
            "delta": self.delta,
            "ci95": self.ci95,
            "p": self.p,
            "better": sum(delta > SAME for delta in self.deltas),
            "worse": sum(delta < -SAME for delta in self.deltas),
            "undetermined_now": self.lost,
            "determined_now": self.won,
            "versions": self.versions,
        }


@dataclass(frozen=True, slots=True)
class GoodChange:
    """Good answers before and after, and how many changed sides."""

    before: Rate
    after: Rate
    became_good: int
    became_bad: int

    @property
    def p(self) -> float:
        """McNemar's exact test on the cases that changed sides."""
        changed = self.became_good + self.became_bad
        return float(binomtest(self.became_good, changed).pvalue) if changed else 1.0

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "before": self.before.value, "after": self.after.value, "became_good": self.became_good,
            "became_bad": self.became_bad, "p": self.p,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cached:
    """Answers that came from verified entries before: proven unchanged by entry and text, or listed."""

    unchanged: int
    changed: tuple[str, ...]  # another entry, another text, or no cached answer any more
    new: int  # cached now, not before


@dataclass(frozen=True, slots=True)
class Moved:
    """A case that changed; the metric that decides says how far, where it has none the sum of the others."""

    id: str
    delta: float
    deltas: dict[str, float]
    good: tuple[bool | None, bool | None]
    outcomes: tuple[str, str]
    same_answer: bool

    @property
    def worse(self) -> bool:
        """It lost its good answer, or its scores fell."""
        return self.good == (True, False) or (self.good != (False, True) and self.delta < -SAME)

    @property
    def better(self) -> bool:
        return self.good == (False, True) or (self.good != (True, False) and self.delta > SAME)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that differs between two runs of the same cases."""

    n: int  # paired
    only_before: int
    only_after: int
    rewritten: tuple[str, ...]  # cases of the same id that are not the same case: not compared
    metrics: dict[str, MetricChange]
    good: GoodChange
    cached: Cached
    moved: tuple[Moved, ...]

    @property
    def worse(self) -> list[Moved]:
        """The worst first."""
        return sorted(
            (one for one in self.moved if one.worse), key=lambda one: (one.good != (True, False), one.delta)
        )

    @property
    def better(self) -> list[Moved]:
        """The best first."""
        return sorted(
            (one for one in self.moved if one.better), key=lambda one: (one.good != (False, True), -one.delta)
        )

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "n": self.n,
            "only_before": self.only_before,
            "only_after": self.only_after,
            "rewritten": list(self.rewritten),
            "good": self.good.as_json(),
            "metrics": {name: change.as_json() for name, change in self.metrics.items()},
            "cached": {
                "unchanged": self.cached.unchanged,
                "changed": list(self.cached.changed),
                "new": self.cached.new,
            },
            "worse": [_moved_json(one) for one in self.worse],
            "better": [_moved_json(one) for one in self.better],
        }


def compare(
    before: Results, after: Results, good: Good, *, progress: Callable[[], object] = lambda: None
) -> Comparison:
    """Pair the runs by case, one pair in memory at a time; what can't be paired is counted."""
    pairing = _Pairing(good)
    for result in after:
        earlier = before.get(result.case.id)
        if earlier is not None:
            pairing.add(earlier, result)
        progress()
    return pairing.comparison(len(before), len(after))


class _Pairing:
    def __init__(self, good: Good) -> None:
        self._good = good
        self._n = self._both = 0
        self._rewritten: list[str] = []
        self._values: dict[str, tuple[list[float], list[float]]] = {}
        self._lost: dict[str, int] = {}
        self._won: dict[str, int] = {}
        self._versions: dict[str, tuple[str, str]] = {}
        self._sides: list[tuple[bool | None, bool | None]] = []
        self._unchanged, self._new, self._changed = 0, 0, list[str]()
        self._moved: list[Moved] = []

    def add(self, before: CaseResult, after: CaseResult) -> None:
        self._both += 1
        if before.digest != after.digest:
            self._rewritten.append(after.case.id)
            return
        self._n += 1
        deltas = {name: d for name in after.metrics if (d := self._metric(name, before, after)) is not None}
        sides = (self._good.of(before), self._good.of(after))
        self._sides.append(sides)
        self._entry(before, after)
        outcomes = (_outcome(before), _outcome(after))
        moves = any(abs(delta) > SAME for delta in deltas.values())
        if moves or sides[0] != sides[1] or outcomes[0] != outcomes[1]:
            delta = deltas.get(self._good.metric, sum(deltas.values()))
            same = _text(before) == _text(after)
            self._moved.append(Moved(after.case.id, delta, deltas, sides, outcomes, same))

    def _metric(self, name: str, before: CaseResult, after: CaseResult) -> float | None:
        if name not in before.metrics:
            return None
        was, now = before.value(name), after.value(name)
        self._versions[name] = (before.metrics[name].version, after.metrics[name].version)
        old, new = self._values.setdefault(name, ([], []))
        if was is None or now is None:
            self._lost[name] = self._lost.get(name, 0) + (was is not None)
            self._won[name] = self._won.get(name, 0) + (now is not None)
            return None
        old.append(was)
        new.append(now)
        return now - was

    def _entry(self, before: CaseResult, after: CaseResult) -> None:
        was = before.said.entry if before.said else None
        now = after.said.entry if after.said else None
        if was is None:
            self._new += now is not None
        elif was == now and _text(before) == _text(after):
            self._unchanged += 1
        else:
            self._changed.append(after.case.id)

    def comparison(self, n_before: int, n_after: int) -> Comparison:
        good = GoodChange(
            before=Rate(sum(was is True for was, _ in self._sides), self._n),
            after=Rate(sum(now is True for _, now in self._sides), self._n),
            became_good=sum(now is True and was is not True for was, now in self._sides),
            became_bad=sum(was is True and now is not True for was, now in self._sides),
        )
        metrics = {
            name: MetricChange(*self._values[name], self._lost.get(name, 0), self._won.get(name, 0), versions)
            for name, versions in self._versions.items()
        }
        return Comparison(
            n=self._n,
            only_before=n_before - self._both,
            only_after=n_after - self._both,
            rewritten=tuple(self._rewritten),
            metrics=metrics,
            good=good,
            cached=Cached(self._unchanged, tuple(self._changed), self._new),
            moved=tuple(self._moved),
        )


def _outcome(result: CaseResult) -> str:
    return result.said.outcome if result.said else "error"


def _text(result: CaseResult) -> str | None:
    return result.said.answer if result.said else None


def _moved_json(one: Moved) -> dict[str, Any]:
    return {
        "id": one.id, "delta": one.delta, "metrics": one.deltas, "good": one.good, "outcomes": one.outcomes,
        "same_answer": one.same_answer,
    }  # fmt: skip
