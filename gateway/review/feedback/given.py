"""The answers of the last days, with all that led to them: a thumbs down comes after the reply is gone.

Written in the background, in batches, and deleted when their time is over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, select

from gateway.background import every
from gateway.domain import Answered, Outcome
from gateway.recording.batches import Batches
from gateway.rendering import rendered_steps
from storage.parts import in_parts
from storage.schema import answers
from storage.sql import Database, DatabaseUnavailable
from storage.texts import storable

__all__ = ["GivenAnswers"]

TIDY_S = 600.0
AT_ONCE = 16  # rendering one takes 0.1 ms, and askers wait meanwhile


@dataclass(frozen=True, slots=True)
class _Given:
    answered: Answered
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


class GivenAnswers(Batches[_Given]):
    """Takes every answer, and forgets it when its time is over."""

    def __init__(
        self, database: Database, *, keep_h: float, on_lost: Callable[[int], None] = lambda rows: None
    ) -> None:
        super().__init__("answers", self._insert, on_lost=on_lost, is_written=self._is_there)
        self._database = database
        self._keep = timedelta(hours=keep_h)

    def outcome(self, outcome: Outcome, /) -> None:
        """Keep an answer; what was refused, withheld or escalated has its ticket, or no answer."""
        if isinstance(outcome, Answered) and self._keep:
            self.add(_Given(outcome))

    async def forget(self) -> None:
        """Delete the answers whose time is over."""
        async with self._database.begin() as connection:
            too_old = answers.c.at < datetime.now(UTC) - self._keep
            await connection.execute(delete(answers).where(too_old))

    async def tidy(self) -> None:
        """Do so from time to time, for as long as the gateway runs."""
        outage = (DatabaseUnavailable,)
        await every(TIDY_S, self.forget, expected=outage, event="answers not tidied", log="sekisho.answers")

    async def _is_there(self, given: _Given) -> bool:
        conversation = given.answered.question.conversation
        same = {"tenant": conversation.tenant, "request_id": conversation.request_id, "at": given.at}
        async with self._database.quick.connect() as connection:
            return await connection.scalar(select(answers.c.id).filter_by(**same).limit(1)) is not None

    async def _insert(self, given: Sequence[_Given]) -> None:
        async with self._database.quick.begin() as connection:
            for some in in_parts(given, AT_ONCE):
                await connection.execute(insert(answers), [_row(one.answered, one.at) for one in some])


def _row(answered: Answered, at: datetime) -> dict[str, Any]:
    question, conversation = answered.question, answered.question.conversation
    return {
        "at": at,
        "tenant": conversation.tenant,
        "group": conversation.group,
        "request_id": conversation.request_id,
        "asker": conversation.asker or None,
        "language": question.language,
        "real_question": storable(conversation.real_question),
        "question": storable(question.text),
        "self_contained": question.self_contained,
        "turns": [{"role": turn.role, "text": storable(turn.text)} for turn in conversation.turns[:-1]],
        "steps": rendered_steps(answered.steps),
        "entry_id": answered.entry,
    }
