"""What only many cases say together. What was undetermined is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.metrics import Measured, Score

__all__ = [
    "FalsePositives",
    "NullContexts",
    "Separated",
    "false_positives",
    "separated",
    "smallest_k",
]

CaseScores = Mapping[str, Measured]  # by name of the metric
_CORRECTNESS, _RECALL = "answer_correctness", "context_recall"


@dataclass(frozen=True, slots=True)
class Separated:
    """Answering apart from retrieval: correctness where everything needed was retrieved, and where not."""

    complete: tuple[float, ...]  # recall 1.0: what is wrong here, the writer did
    incomplete: tuple[float, ...]

    @property
    def writing(self) -> float | None:
        """Mean correctness with complete contexts; None without such cases."""
        return sum(self.complete) / len(self.complete) if self.complete else None

    @property
    def without_contexts(self) -> float | None:
        """Mean correctness where something was missing."""
        return sum(self.incomplete) / len(self.incomplete) if self.incomplete else None


@dataclass(frozen=True, slots=True)
class NullContexts:
    """The confusion matrix of null contexts; "positive" is: nothing answers this."""

    declined_null: int  # true positives
    declined_answerable: int  # false positives
    answered_null: int  # false negatives: something was said where nothing could be
    answered_answerable: int  # true negatives

    @property
    def precision(self) -> float | None:
        """Of what was declined, the share that nothing answers."""
        return _share(self.declined_null, self.declined_null + self.declined_answerable)

    @property
    def recall(self) -> float | None:
        """Of what nothing answers, the share that was declined."""
        return _share(self.declined_null, self.declined_null + self.answered_null)


@dataclass(frozen=True, slots=True)
class FalsePositives:
    """Where what the ground truth does not say comes from."""

    invented: int  # not in the contexts
    from_contexts: int  # too much taken from them
    unknown: int

    @property
    def invented_share(self) -> float | None:
        """Of those whose origin is known."""
        return _share(self.invented, self.invented + self.from_contexts)


def separated(cases: Iterable[CaseScores], *, correctness: str = _CORRECTNESS) -> Separated:
    """Correctness where the recall is 1.0, and elsewhere."""
    complete: list[float] = []
    incomplete: list[float] = []
    for scores in cases:
        right, found = scores.get(correctness), scores.get(_RECALL)
        if isinstance(right, Score) and isinstance(found, Score):
            (complete if found.value == 1.0 else incomplete).append(right.value)
    return Separated(tuple(complete), tuple(incomplete))


def false_positives(cases: Iterable[CaseScores], *, metric: str = _CORRECTNESS) -> FalsePositives:
    """False positives of all answers, by where they come from."""
    origins = [each["from"] for steps in _steps(cases, metric) for each in steps["false_positives"]]
    return FalsePositives(*(origins.count(name) for name in ("invented", "contexts", "unknown")))


def smallest_k(cases: Iterable[CaseScores]) -> dict[int, float]:
    """For every k that is the smallest for a case, the share of cases with recall 1.0 at that k."""
    found = [steps["smallest_k"] for steps in _steps(cases, _RECALL)]
    known = sorted({k for k in found if k is not None})
    return {k: sum(each is not None and each <= k for each in found) / len(found) for k in known}


def _steps(cases: Iterable[CaseScores], metric: str) -> Iterable[Mapping[str, Any]]:
    for scores in cases:
        measured = scores.get(metric)
        if isinstance(measured, Score):
            yield measured.steps


def _share(count: int, total: int) -> float | None:
    return count / total if total else None
