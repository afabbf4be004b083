"""Null contexts: does the system know that nothing answers a question?

Definition: a case is *null* if it is marked `answerable: false`; it is taken for null if the target gave no
answer (refused, escalated, withheld), or the answer claims nothing, as "I found nothing about that" does. A
case scores 1 where both agree, else 0. The confusion matrix over cases, with "null" as the positive class,
is in `aggregates`.

Edge cases: nobody said whether the case can be answered: undetermined.
"""

from __future__ import annotations

from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.statements.speech_acts import speech_act
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score, Undetermined

__all__ = ["NullContext"]


class NullContext:
    """Whether the target declined exactly what nothing answers."""

    name = "null_context"
    version = "1"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """1 where declining and being unanswerable agree."""
        if case.case.answerable is None:
            return Undetermined("nobody said whether the case can be answered")
        null, taken = not case.case.answerable, not case.answered or _declines(case.answer)
        return Score(float(null == taken), {"null": null, "taken_for_null": taken})


def _declines(answer: str) -> bool:
    """An empty answer, or a refusal with nothing that claims something."""
    acts = {speech_act(sentence.text) for sentence in sentences(answer)}
    return not acts or ("refusal" in acts and "claim" not in acts)
