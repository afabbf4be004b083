"""Baseline: a model says which of two answers is better, in both orders, since it favours the first.

Source: Es et al. 2023 ("GPT ranking"); both orders after Wang et al. 2023 (Large language models are not
fair evaluators). 1.0 if the answer wins in both orders, 0.0 if it loses in both, else 0.5. As a metric the
other answer is the ground truth. Edge cases: two equal texts are a tie and not asked; an order without a
verdict: undetermined.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from classifiers.text import normalise
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking

__all__ = ["GptRanking"]


class _Preferred(BaseModel):
    reason: str
    better: Literal["1", "2", "tie"]


class GptRanking:
    """Which of two answers a model prefers, whichever it reads first."""

    name = "gpt_ranking"

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.version = f"1:{examiner.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The answer against the ground truth."""
        if nothing := lacking(case, "answer", "ground_truth"):
            return nothing
        return await self.compare(case.case.question, case.answer, case.case.ground_truth, case.case.lang)

    async def compare(self, question: str, answer: str, other: str, language: str) -> Measured:
        """1.0 if the answer is better, 0.0 if the other is, 0.5 if neither is in both orders."""
        steps: dict[str, Any] = {}
        if normalise(answer) == normalise(other):
            return Score(0.5, {"reason": "the same text"})
        return await determined(self._compared(question, answer, other, language, steps), steps)

    async def _compared(self, question: str, answer: str, other: str, language: str, steps: Steps) -> Score:
        verdicts = []
        for first, second in ((answer, other), (other, answer)):
            given = {"question": question, "answer_1": first, "answer_2": second}
            read = await self._examiner.ask("ranking", _Preferred, given, language=language, steps=steps)
            verdicts.append(read.better)
        steps["verdicts"] = verdicts
        value = {("1", "2"): 1.0, ("2", "1"): 0.0}.get((verdicts[0], verdicts[1]), 0.5)
        return Score(value, steps)
