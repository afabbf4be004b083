"""Faithfulness F = supported statements / statements (Es et al. 2023), by the judge that serves."""

from __future__ import annotations

from dataclasses import asdict

from classifiers import ClassifierError
from classifiers.faithfulness import Unchecked
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score, Undetermined
from gateway.stages import Judge

__all__ = ["Faithfulness"]


class Faithfulness:
    """How much of an answer its own contexts support; its steps are the statements with their verdicts."""

    name = "faithfulness"

    def __init__(self, judge: Judge, *, version: str) -> None:
        self._judge = judge
        self.version = version

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """F of the answer against the contexts it was written from."""
        if not case.answered:
            return Undetermined("there is no answer")
        try:
            verdict = await self._judge.judge(
                case.answer, [context.text for context in case.contexts], question=case.case.question
            )
        except ClassifierError as exc:
            return Undetermined(str(exc))
        if isinstance(verdict, Unchecked):
            return Undetermined(verdict.reason)
        return Score(verdict.faithfulness, {"statements": [asdict(one) for one in verdict.statements]})
