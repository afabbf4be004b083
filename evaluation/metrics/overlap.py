"""Baselines that understand nothing: ROUGE-L and the length. A metric has to be better than these.

ROUGE-L (Lin 2004): F1 of the longest common subsequence of words (characters in Japanese and Chinese),
after our own stemming; edge case: no words on a side: undetermined. Length: n / (n + 100) for n words,
which keeps the order and lies between 0 and 1.
"""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from classifiers.faithfulness.wording import folded, units
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score, Undetermined
from evaluation.metrics.examiner import lacking

__all__ = ["Length", "RougeL", "rouge_l"]

HALF = 100  # words of an answer that scores 0.5


def rouge_l(answer: str, truth: str) -> float | None:
    """F1 of the longest common subsequence; None if a side has no words."""
    ours, theirs = units(folded(answer)), units(folded(truth))
    if not ours or not theirs:
        return None
    return 2 * LCSseq.similarity(ours, theirs) / (len(ours) + len(theirs))


class RougeL:
    """Words in common with the ground truth, in order."""

    name = "rouge_l"
    version = "1"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """F1 of the longest common subsequence."""
        if nothing := lacking(case, "answer", "ground_truth"):
            return nothing
        found = rouge_l(case.answer, case.case.ground_truth)
        return Undetermined("a text without words") if found is None else Score(found)


class Length:
    """How long the answer is, and nothing else."""

    name = "length"
    version = "1"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """n / (n + 100) for n words."""
        if nothing := lacking(case, "answer"):
            return nothing
        words = len(units(folded(case.answer)))
        return Score(words / (words + HALF), {"words": words})
