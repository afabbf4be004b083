"""Answer relevance: whether an answer answers what was asked. Right or wrong does not matter here.

Definition (Es et al. 2023): a model writes n questions that the answer would answer; the score is the mean
cosine of these to the question. It is 0 if the answer is non-committal ("I don't know"): if the model said
so each time ("all", ragas since 2025-09-30) or once ("any", ragas before). A non-committal reply may come
without a question.

Edge cases: an empty question that is not called non-committal, or fewer questions than n: undetermined
(ragas skips them, and scores 0.0 if none is left). A negative cosine counts as 0 (ragas: may be negative).
The model is shown the questions it wrote before: one prompt, repeated at temperature 0, would give one
question n times.

Without a model there is no such score, but a simpler one by another name: the cosine of question and answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from classifiers import ClassifierError
from encoders import Encoder
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking

__all__ = ["AnswerRelevance", "QuestionAnswerSimilarity"]


class _Question(BaseModel):
    question: str
    noncommittal: Literal[0, 1]


class AnswerRelevance:
    """Mean cosine of the question to n questions that the answer answers."""

    name = "answer_relevance"

    def __init__(
        self,
        examiner: Examiner,
        encoder: Encoder,
        *,
        questions: int = 3,
        noncommittal: Literal["all", "any"] = "all",
    ) -> None:
        if questions < 1:
            raise ValueError("questions: expected at least 1")
        self._examiner = examiner
        self._encoder = encoder
        self._questions = questions
        self._noncommittal = all if noncommittal == "all" else any
        self.version = f"1:{examiner.version}:{questions}:{noncommittal}:{encoder.identity.name}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The mean, or 0 for what commits itself to nothing; its steps are the questions."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer") or await determined(self._measured(case, steps), steps)

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        written: list[_Question] = []
        for _ in range(self._questions):
            given = {"response": case.answer, "written_before": [one.question for one in written]}
            language = case.case.lang
            written.append(
                await self._examiner.ask("question", _Question, given, language=language, steps=steps)
            )
        evades = self._noncommittal(one.noncommittal == 1 for one in written)
        questions = [one.question for one in written if one.question.strip()]
        if not evades and len(questions) < len(written):
            raise ClassifierError(f"the model wrote {len(questions)} of {len(written)} questions")
        steps["noncommittal"] = evades
        if evades:
            steps["questions"] = [{"question": question} for question in questions]
            return Score(0.0, steps)
        asked, *vectors = await self._encoder.encode([case.case.question, *questions])
        near = [float(asked @ vector) for vector in vectors]
        steps["questions"] = [
            {"question": question, "cosine": round(cosine, 4)}
            for question, cosine in zip(questions, near, strict=True)
        ]
        return Score(min(1.0, max(0.0, sum(near) / len(near))), steps)


class QuestionAnswerSimilarity:
    """The cosine of question and answer, at least 0, without a model: on the subject, not an answer."""

    name = "question_answer_similarity"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.version = f"cosine@{encoder.identity.name}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The cosine, cut to 0..1."""
        return lacking(case, "answer") or await determined(self._measured(case), {})

    def texts(self, case: AnsweredCase, /) -> Sequence[str]:
        """Question and answer."""
        return () if lacking(case, "answer") else (case.case.question, case.answer)

    async def _measured(self, case: AnsweredCase) -> Score:
        question, answer = await self._encoder.encode(self.texts(case))
        return Score(min(1.0, max(0.0, float(question @ answer))))
