"""Retrieval judged by a language model against the ground truth, where nobody noted the ground contexts.

- `AttributedRecall` (ragas' context recall): a model takes the ground truth apart and says of each
  statement whether the contexts have it; score = attributed statements / statements.
- `UsefulPrecision` (ragas' context precision): a model says of each context whether it was of use for the
  ground truth; score = average precision over the useful ones, 0 if none is.

Edge cases: no statements, or a verdict other than 0 and 1 (ragas counts 2 as 1, or as 2): undetermined. One
context without a verdict leaves the precision undetermined: its place in the ranking is not known.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from classifiers import ClassifierError
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking
from evaluation.metrics.retrieval import average_precision

__all__ = ["AttributedRecall", "UsefulPrecision"]

_YesNo = Literal[0, 1]


class _Attributed(BaseModel):
    statement: str
    reason: str
    attributed: _YesNo


class _Attributions(BaseModel):
    classifications: list[_Attributed]


class _Useful(BaseModel):
    reason: str
    verdict: _YesNo


class AttributedRecall:
    """The share of the ground truth's statements that the contexts have."""

    name = "context_recall_llm"

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.version = f"1:{examiner.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Attributed statements out of all; its steps name them."""
        steps: dict[str, Any] = {}
        return lacking(case, "ground_truth", "contexts") or await determined(
            self._measured(case, steps), steps
        )

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        given = {
            "question": case.case.question,
            "context": "\n".join(context.text for context in case.contexts),
            "answer": case.case.ground_truth,
        }
        language = case.case.lang
        read = await self._examiner.ask("attribution", _Attributions, given, language=language, steps=steps)
        found = read.classifications
        if not found:
            raise ClassifierError("the model found no statement in the ground truth")
        steps["statements"] = [each.model_dump() for each in found]
        return Score(sum(each.attributed for each in found) / len(found), steps)


class UsefulPrecision:
    """Average precision of the contexts, by a model's verdict on each."""

    name = "context_precision_llm"

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.version = f"1:{examiner.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Average precision; its steps hold the verdicts."""
        steps: dict[str, Any] = {}
        return lacking(case, "ground_truth", "contexts") or await determined(
            self._measured(case, steps), steps
        )

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        useful = []
        for context in case.contexts:
            given = {
                "question": case.case.question,
                "context": context.text,
                "answer": case.case.ground_truth,
            }
            language = case.case.lang
            read = await self._examiner.ask("usefulness", _Useful, given, language=language, steps=steps)
            useful.append(read.verdict == 1)
        steps["useful"] = useful
        return Score(average_precision(useful), steps)
