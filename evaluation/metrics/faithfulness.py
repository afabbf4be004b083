"""Faithfulness: how much of an answer the contexts it was written from support, by the judge that serves.

Definition (Es et al. 2023): F = supported statements / statements. F is a figure for reports; the gateway
stops an answer for one unsupported statement, whatever F is.

Edge cases: nothing to check, no contexts, or a judge that fails: undetermined. A statement that was not
checked, since a model gave fewer verdicts than there are statements or one that can't be read, leaves F
undetermined, even where another one is known to be unsupported: the denominator would be made up. ragas
divides by the verdicts that came ([1, 0] on three statements is 0.5) and takes any number but 0 for a yes;
golden vector [1, 1, 0]: 0.6667.
"""

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
        steps = {"statements": [asdict(one) for one in verdict.statements]}
        if isinstance(verdict, Unchecked):
            return Undetermined(verdict.reason.replace("_", " "), steps)
        unchecked = sum(one.state == "unchecked" for one in verdict.statements)
        if unchecked:
            return Undetermined(
                f"{unchecked} of {len(verdict.statements)} statements were not checked", steps
            )
        return Score(verdict.faithfulness, steps)
