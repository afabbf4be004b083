"""Multi-label accuracy, where answers are labels and not sentences.

Definition (Godbole and Sarawagi 2004): labels in both answer and ground truth / labels in either; 1.0 is an
exact match, which the steps tell apart. Labels are parted by commas, semicolons, 、 and line ends, and
compared after normalisation, without list marks and final stops.

Edge cases: with `known` labels, an answer that holds another text than these is undetermined, for it was
not given in labels. A ground truth without a label is undetermined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.text import normalise
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score, Undetermined
from evaluation.metrics.examiner import lacking

__all__ = ["LabelAccuracy"]

_BETWEEN = re.compile(r"[,;、，；\n]+")
_MARKS = " \t-*•・.。\"'"


class LabelAccuracy:
    """How far the labels of an answer are those of the ground truth."""

    name = "label_accuracy"

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = frozenset(_labels("\n".join(known)))
        self.version = f"1:{len(self._known)}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Shared labels out of all."""
        if nothing := lacking(case, "answer", "ground_truth"):
            return nothing
        given, right = _labels(case.answer), _labels(case.case.ground_truth)
        if not right:
            return Undetermined("the ground truth holds no label")
        if self._known and not given <= self._known:
            return Undetermined(f"not among the labels: {', '.join(sorted(given - self._known))[:200]}")
        steps = {
            "exact": given == right,
            "missing": sorted(right - given),
            "too_many": sorted(given - right),
        }
        return Score(len(given & right) / len(given | right), steps)


def _labels(text: str) -> frozenset[str]:
    found = (part.strip(_MARKS) for part in _BETWEEN.split(text))
    return frozenset(normalise(part) for part in found if part)
