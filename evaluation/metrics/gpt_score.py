"""Baseline: a model gives 0 to 10 points, beside the ground truth if there is one; score = points / 10.

Source: the "GPT score" of Es et al. 2023, after Zheng et al. 2023 (LLM as a judge), here with a comment
before the points. Edge cases: points that are no whole number from 0 to 10 are undetermined, not cut to the
scale.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking

__all__ = ["GptScore"]

MOST = 10


class _Points(BaseModel):
    comment: str
    points: Annotated[int, Field(strict=True, ge=0, le=MOST)]


class GptScore:
    """One number from a model, on its own terms."""

    name = "gpt_score"

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.version = f"1:{examiner.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Points out of ten; its steps hold the comment."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        given = {
            "question": case.case.question,
            "ground_truth": case.case.ground_truth or None,
            "contexts": [context.text for context in case.contexts],
            "answer": case.answer,
        }
        language = case.case.lang
        read = await self._examiner.ask("points", _Points, given, language=language, steps=steps)
        steps["comment"] = read.comment
        return Score(read.points / MOST, steps)
