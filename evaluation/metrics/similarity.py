"""Semantic similarity: the cosine of answer and ground truth, by the encoder that serves; below 0 it is 0."""

from __future__ import annotations

from collections.abc import Sequence

from encoders import Encoder, EncoderError
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score, Undetermined

__all__ = ["SemanticSimilarity"]


class SemanticSimilarity:
    """How near the answer is to the ground truth in meaning; near is not right."""

    name = "semantic_similarity"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.version = f"cosine@{encoder.identity.name}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The cosine, cut to 0..1."""
        if not case.answered:
            return Undetermined("there is no answer")
        if not case.case.ground_truth:
            return Undetermined("the case has no ground truth")
        try:
            ours, theirs = await self._encoder.encode(self.texts(case))
        except EncoderError as exc:
            return Undetermined(str(exc))
        return Score(min(1.0, max(0.0, float(ours @ theirs))))

    def texts(self, case: AnsweredCase, /) -> Sequence[str]:
        """Answer and ground truth."""
        truth = case.case.ground_truth
        return (case.answer, truth) if case.answered and truth else ()
