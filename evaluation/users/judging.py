"""How good one turn was: five criteria from 1 to 5, each with a comment before its score.

A turn's value is the mean of its scores divided by 5, a dialogue's the mean of its turns, the whole the mean
of its dialogues. Below 0.7, that is 3.5 of 5, a turn is marked. The comment comes first since a model that
has said why judges better (Zheng et al., Judging LLM-as-a-Judge, arXiv:2306.05685).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from classifiers import ClassifierError
from classifiers.model_replies import AsksModel, read_object, response_format
from evaluation.answers.cases import AnswerCase
from evaluation.answers.results import Said
from evaluation.users.playing import prompt
from gateway.domain import Turn

__all__ = ["BEST", "CRITERIA", "MARKED_BELOW", "Criterion", "TurnJudge", "TurnVerdict"]

CRITERIA = ("understanding", "relevance", "completeness", "correctness", "coherence")
BEST = 5
MARKED_BELOW = 0.7


@dataclass(frozen=True, slots=True)
class Criterion:
    """Why, then how much, 1 to 5."""

    comment: str
    score: int


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """The criteria by name; none where the judge gave no verdict, and the reason says why."""

    criteria: dict[str, Criterion]
    reason: str = ""

    @property
    def value(self) -> float | None:
        """From 0.2 to 1; None: undetermined."""
        if not self.criteria:
            return None
        return sum(one.score for one in self.criteria.values()) / (BEST * len(self.criteria))


class _Criterion(BaseModel):
    model_config = ConfigDict(extra="ignore")

    comment: str
    score: Annotated[int, Field(ge=1, le=BEST, strict=True)]


class _Reply(BaseModel):
    """A verdict on the last answer."""

    model_config = ConfigDict(extra="ignore")

    understanding: _Criterion
    relevance: _Criterion
    completeness: _Criterion
    correctness: _Criterion
    coherence: _Criterion


_FORMAT = response_format(_Reply, name="verdict")


class TurnJudge:
    """Asks a model about one turn."""

    version = "turns@1"

    def __init__(self, model: AsksModel) -> None:
        self._model = model

    async def judge(self, case: AnswerCase, before: Sequence[Turn], message: str, said: Said) -> TurnVerdict:
        """The verdict; without criteria if the model can't be asked or answers something else."""
        given = {
            "wants": case.question,
            "ground_truth": case.ground_truth,
            "ground_contexts": [context.text for context in case.ground_contexts],
            "said": [{"role": turn.role, "text": turn.text} for turn in before],
            "message": message,
            "answer": said.answer,
            "outcome": said.outcome,
        }
        try:
            reply = await self._model.ask(
                prompt("judge", case.lang), json.dumps(given, ensure_ascii=False), _FORMAT
            )
            read = read_object(reply, _Reply, judge=self.version)
        except ClassifierError as exc:
            return TurnVerdict({}, str(exc))
        found = {name: getattr(read, name) for name in CRITERIA}
        return TurnVerdict({name: Criterion(one.comment, one.score) for name, one in found.items()})
