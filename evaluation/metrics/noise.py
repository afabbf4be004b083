"""Noise: how often the contexts mislead the answer. 1 minus ragas' noise sensitivity, so that more is better.

Definition (ragas, after RAGChecker, Ru et al. 2024). Context k is *relevant* if it supports a statement of
the ground truth. A statement of the answer is wrong if the ground truth does not support it. Of the
answer's statements

    sensitivity to relevant contexts   = share that is wrong and supported by a relevant one
    sensitivity to irrelevant contexts = share that is wrong and supported by irrelevant ones only

and the score is 1 - sensitivity: wrong statements that no context has are not the contexts' fault.

Edge cases: an answer or a ground truth without statements: undetermined (ragas: an exception). Fewer
verdicts than statements for any context: undetermined (ragas: an exception over ragged arrays, or a shift
in silence).
"""

from __future__ import annotations

from typing import Any, Literal

from classifiers import ClassifierError
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Steps, determined, lacking
from evaluation.metrics.statements import StatementJudge

__all__ = ["NoiseRobustness"]


class NoiseRobustness:
    """The share of the answer's statements that no context misled."""

    def __init__(
        self, judge: StatementJudge, *, mode: Literal["relevant", "irrelevant"] = "relevant", suffix: str = ""
    ) -> None:
        self._judge = judge
        self._mode = mode
        self.name = f"noise_robustness_{mode}{suffix}"
        self.version = f"1:{judge.version}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """1 - sensitivity; its steps name the statements that were misled."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer", "ground_truth", "contexts") or await determined(
            self._measured(case, steps), steps
        )

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        expected = await self._split(case.case.ground_truth, "the ground truth", case, steps)
        said = await self._split(case.answer, "the answer", case, steps)
        by_relevant, by_any = [False] * len(said), [False] * len(said)
        relevant = []
        for context in case.contexts:
            of_truth = await self._verdicts(expected, context.text, case, steps)
            of_answer = await self._verdicts(said, context.text, case, steps)
            relevant.append(any(of_truth))
            for at, supported in enumerate(of_answer):
                by_any[at] |= supported
                by_relevant[at] |= supported and any(of_truth)
        right = await self._verdicts(said, case.case.ground_truth, case, steps)
        misled = [
            not right[at] and (by_relevant[at] if self._mode == "relevant" else only_by_noise)
            for at, only_by_noise in enumerate(
                anyone and not relevantly for anyone, relevantly in zip(by_any, by_relevant, strict=True)
            )
        ]
        sensitivity = sum(misled) / len(said)
        steps |= {
            "sensitivity": sensitivity,
            "relevant_contexts": relevant,
            "statements": [
                {"statement": each, "right": is_right, "misled": is_misled}
                for each, is_right, is_misled in zip(said, right, misled, strict=True)
            ],
        }
        return Score(1 - sensitivity, steps)

    async def _split(self, text: str, what: str, case: AnsweredCase, steps: Steps) -> list[str]:
        found = await self._judge.split(text, case.case.question, language=case.case.lang, steps=steps)
        if not found:
            raise ClassifierError(f"{what} makes no statement")
        return found

    async def _verdicts(self, found: list[str], text: str, case: AnsweredCase, steps: Steps) -> list[bool]:
        question, language = case.case.question, case.case.lang
        judged = await self._judge.support(found, [text], question, language=language, steps=steps)
        return [each.supported for each in judged]
