"""Which follow-ups would be looked up in the cache, and which questions that need no earlier turn would not.

Measured without a language model: what it rewrites may be looked up, and is another question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from encoders.shipped import load_shipped_leaning
from evaluation.cases import FollowUp
from evaluation.statistics import Rate, percentiles
from gateway.domain import Conversation, Turn
from gateway.settings import UnderstandingSettings
from gateway.understanding import Understanding
from gateway.understanding.follow_ups import FollowUps

__all__ = ["FollowUpsResult", "JudgedTurn", "evaluate_followups"]

_MOST_QUESTIONS = 50  # in one message: a limit is not what is measured
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|there|one)\b"
    "|それ|これ|あれ|その|この|あの|そこ|ここ|彼|它|他们|她|这|那|這|其",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """A turn, and whether it would be looked up."""

    case: FollowUp
    looked_up: bool
    ms: float


@dataclass(frozen=True, slots=True)
class FollowUpsResult:
    """All turns of a file."""

    judged: tuple[JudgedTurn, ...]

    def ways(self) -> dict[str, tuple[Rate, Rate]]:
        """Missed (dependent, but looked up) and held (self-contained, but not looked up), by way to judge."""
        return {
            "Sekisho": self._rates(lambda one: one.looked_up),
            "hold all but first turns": self._rates(lambda one: one.case.opens),
            "hold none": self._rates(lambda one: True),
            "hold what has a pronoun": self._rates(
                lambda one: one.case.opens or not _PRONOUN.search(one.case.messages[-1].content)
            ),
        }

    def as_json(self) -> dict[str, Any]:
        """The figures, as the other evaluations write them."""
        missed, held = self.ways()["Sekisho"]
        return {
            "n": len(self.judged),
            "dependent": missed.n,
            "standalone": held.n,
            "missed_rate": missed.value,
            "held_rate": held.value,
            "latency_ms": percentiles(one.ms for one in self.judged),
        }

    def _rates(self, looked_up: Callable[[JudgedTurn], bool]) -> tuple[Rate, Rate]:
        dependent = [looked_up(one) for one in self.judged if not one.case.standalone]
        alone = [looked_up(one) for one in self.judged if one.case.standalone]
        return Rate(sum(dependent), len(dependent)), Rate(len(alone) - sum(alone), len(alone))


async def evaluate_followups(
    cases: Sequence[FollowUp],
    settings: UnderstandingSettings,
    *,
    progress: Callable[[], None] = lambda: None,
) -> FollowUpsResult:
    """Judge the last turn of every conversation; a message of several questions counts once.

    It is looked up if one of its questions is; small talk never is.
    """
    understanding = Understanding(
        FollowUps(load_shipped_leaning(), settings.follow_ups),
        max_questions=_MOST_QUESTIONS,
        default_language=settings.default_language,
    )
    judged = []
    for number, case in enumerate(cases):
        turns = tuple(Turn(message.role, message.content) for message in case.messages)
        conversation = Conversation(turns=turns, tenant="default", request_id=f"case_{number}")
        started = perf_counter()
        understood = await understanding.understand(conversation)
        ms = (perf_counter() - started) * 1000
        looked_up = any(question.self_contained for question in understood.questions)
        judged.append(JudgedTurn(case, looked_up, ms))
        progress()
    return FollowUpsResult(tuple(judged))
