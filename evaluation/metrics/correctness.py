"""Answer correctness: what of the answer the ground truth says, and what of the ground truth the answer.

Definition (Es et al. 2023, ragas' `answer_correctness`): true positives are statements of the answer that
the ground truth supports, false positives those it doesn't, false negatives statements of the ground truth
that the answer lacks. With P = TP/(TP+FP) and R = TP/(TP+FN)

    factuality  = F_beta = (1 + beta²) P R / (beta² P + R)
    correctness = weighted mean of factuality and of the cosine of both texts (0.75, 0.25)

beta > 1 makes what is missing (FN) weigh more, beta < 1 what is wrong (FP).

Two forms. With a language model (`AskedFactuality`) the statements are counted, in three calls. Without one
(`LocalFactuality`) each statement is supported by a share, and P and R are the mean shares of the answer's
and of the ground truth's statements: whole counts threw away what tells two long answers apart.

Edge cases: no ground truth, or one that says nothing: undetermined. An answer without statements has said
nothing right: factuality 0 (ragas' collections give 1.0). TP = FP = FN = 0: undetermined (ragas: 1.0 or
0.0). Fewer or more classified statements than there are: undetermined. A negative cosine counts as 0.

False positives are looked for in the contexts, if there are any: what stands there was *taken* though
nobody asked for it, what doesn't was *invented*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel

from classifiers import ClassifierError
from encoders import Encoder
from evaluation.answers.cases import AnsweredCase
from evaluation.metrics import Measured, Score
from evaluation.metrics.examiner import Examiner, Steps, determined, lacking
from evaluation.metrics.statements import AskedStatements, StatementJudge, Support

__all__ = ["AnswerCorrectness", "AskedFactuality", "Factuality", "LocalFactuality", "Matched", "f_beta"]

SAID = (
    0.5  # share from which a statement is listed as said; the local number is made of the shares themselves
)


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """The weighted harmonic mean (van Rijsbergen 1979); 0 where both are 0."""
    weighed = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighed if weighed else 0.0


@dataclass(frozen=True, slots=True)
class Matched:
    """The statements of an answer beside those of its ground truth."""

    precision: float
    recall: float
    true_positives: tuple[str, ...]
    false_positives: tuple[str, ...]
    false_negatives: tuple[str, ...]


class Factuality(Protocol):
    """Matches the statements of answer and ground truth. Raises `ClassifierError` when it can't."""

    @property
    def version(self) -> str: ...

    @property
    def statements(self) -> StatementJudge: ...

    async def match(self, case: AnsweredCase, steps: Steps, /) -> Matched: ...


class LocalFactuality:
    """Each side's statements against the other text, by shares, without a model."""

    def __init__(self, statements: StatementJudge) -> None:
        self.statements = statements
        self.version = statements.version

    async def match(self, case: AnsweredCase, steps: Steps, /) -> Matched:
        """Precision and recall as mean shares."""
        answer, truth = case.answer, case.case.ground_truth
        said = await self._shares(answer, truth, case, steps)
        expected = await self._shares(truth, answer, case, steps)
        if not expected:
            raise ClassifierError("the ground truth makes no statement")
        steps["statements"] = [_listed(each) for each in said]
        steps["ground_truth"] = [_listed(each) for each in expected]
        return Matched(
            _mean(said),
            _mean(expected),
            tuple(each.statement for each in said if each.share >= SAID),
            tuple(each.statement for each in said if each.share < SAID),
            tuple(each.statement for each in expected if each.share < SAID),
        )

    async def _shares(self, text: str, other: str, case: AnsweredCase, steps: Steps) -> list[Support]:
        question, language = case.case.question, case.case.lang
        found = await self.statements.split(text, question, language=language, steps=steps)
        return await self.statements.support(found, [other], question, language=language, steps=steps)


class _Classified(BaseModel):
    statement: str
    reason: str


class _Classes(BaseModel):
    TP: list[_Classified]
    FP: list[_Classified]
    FN: list[_Classified]


class AskedFactuality:
    """A language model takes both texts apart and puts every statement into one of three classes."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self.statements: StatementJudge = AskedStatements(examiner)
        self.version = examiner.version

    async def match(self, case: AnsweredCase, steps: Steps, /) -> Matched:
        """Precision and recall by counts."""
        question, language = case.case.question, case.case.lang
        said = await self.statements.split(case.answer, question, language=language, steps=steps)
        expected = await self.statements.split(
            case.case.ground_truth, question, language=language, steps=steps
        )
        if not expected:
            raise ClassifierError("the ground truth makes no statement")
        if not said:
            return Matched(0.0, 0.0, (), (), tuple(expected))
        given = {"question": question, "answer": said, "ground_truth": expected}
        read = await self._examiner.ask("correctness", _Classes, given, language=language, steps=steps)
        return _counted(read, len(said), len(expected))


class AnswerCorrectness:
    """How right and how complete an answer is, beside its ground truth."""

    def __init__(
        self,
        factuality: Factuality,
        encoder: Encoder,
        *,
        name: str = "answer_correctness",
        beta: float = 1.0,
        weights: tuple[float, float] = (0.75, 0.25),
    ) -> None:
        if beta <= 0 or min(weights) < 0 or not sum(weights):
            raise ValueError("beta: expected more than 0; weights: expected two from 0, not both 0")
        self.name = name
        self._factuality = factuality
        self._encoder = encoder
        self._beta = beta
        self._weights = weights
        model = encoder.identity.name
        self.version = f"1:{factuality.version}:beta={beta:g}:weights={weights[0]:g},{weights[1]:g}:{model}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """The weighted mean; its steps hold the statements of both sides."""
        steps: dict[str, Any] = {}
        return lacking(case, "answer", "ground_truth") or await determined(self._measured(case, steps), steps)

    def texts(self, case: AnsweredCase, /) -> Sequence[str]:
        """Answer and ground truth, where their similarity counts."""
        measured = self._weights[1] and not lacking(case, "answer", "ground_truth")
        return (case.answer, case.case.ground_truth) if measured else ()

    async def _measured(self, case: AnsweredCase, steps: Steps) -> Score:
        matched = await self._factuality.match(case, steps)
        factuality = f_beta(matched.precision, matched.recall, self._beta)
        steps |= {
            "precision": matched.precision,
            "recall": matched.recall,
            "factuality": factuality,
            "true_positives": list(matched.true_positives),
            "false_negatives": list(matched.false_negatives),
            "false_positives": await self._where_from(case, matched.false_positives, steps),
        }
        weight, other = self._weights
        steps["similarity"] = similarity = await self._similarity(case) if other else 0.0
        return Score(min(1.0, (weight * factuality + other * similarity) / (weight + other)), steps)

    async def _similarity(self, case: AnsweredCase) -> float:
        ours, theirs = await self._encoder.encode(self.texts(case))
        return min(1.0, max(0.0, float(ours @ theirs)))

    async def _where_from(
        self, case: AnsweredCase, false: Sequence[str], steps: Steps
    ) -> list[dict[str, str]]:
        """Each false positive: taken from the contexts, invented, or not known."""
        contexts = [context.text for context in case.contexts]
        origins = ["unknown"] * len(false)
        if false and contexts:
            try:
                found = await self._factuality.statements.support(
                    false, contexts, case.case.question, language=case.case.lang, steps=steps
                )
                origins = ["contexts" if each.supported else "invented" for each in found]
            except ClassifierError as exc:  # the score does not depend on it
                steps["origins"] = str(exc)
        return [{"statement": each, "from": origin} for each, origin in zip(false, origins, strict=True)]


def _counted(read: _Classes, said: int, expected: int) -> Matched:
    right, wrong, missing = len(read.TP), len(read.FP), len(read.FN)
    if right + wrong != said or missing > expected:
        raise ClassifierError(
            f"the model classified {right + wrong} of {said} statements of the answer "
            f"and {missing} as missing of {expected} in the ground truth"
        )
    return Matched(
        right / (right + wrong),
        right / (right + missing) if right + missing else 0.0,
        *(tuple(each.statement for each in part) for part in (read.TP, read.FP, read.FN)),
    )


def _mean(found: Sequence[Support]) -> float:
    return sum(each.share for each in found) / len(found) if found else 0.0


def _listed(each: Support) -> dict[str, Any]:
    return {"statement": each.statement, "share": round(each.share, 4)}
