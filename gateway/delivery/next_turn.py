"""The answer of a person, told in the conversation: the asker's next message is answered with it, too, once.

A ticket is the asker's if the client names them as it did then (`user`), or if the conversation that it sends
along shows the ticket's number in one of our replies. Whoever has the key could poll the ticket by that
number; no more is told here, and what askers write themselves is not read for numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, RowMapping, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.domain import Conversation
from gateway.replies import Replies
from gateway.review.tickets import record_event
from gateway.stages import NO_NEWS, News
from storage.schema import asked_by_somebody, tickets
from storage.schema.base import holds
from storage.sql import Database, DatabaseUnavailable

__all__ = ["NextTurn"]

REMEMBERED = timedelta(days=30)  # an older answer is no news
AT_ONCE = 3
LOOKED_AT = 50  # numbers in one conversation
_NUMBER = re.compile(r"T-[0-9A-HJKMNP-TV-Z]{8}")


class NextTurn:
    """Gives what people answered since."""

    def __init__(self, db: Database, replies: Replies) -> None:
        self._db = db
        self._replies = replies

    async def take(self, conversation: Conversation, language: str) -> News:
        """What the asker waits for, marked as told; if SQL is away they get it another time."""
        named = _named(conversation)
        if not (conversation.asker or named):  # nothing says whose tickets are theirs
            return NO_NEWS
        try:
            answered = await self._take(conversation, named)
        except DatabaseUnavailable as exc:
            structlog.get_logger("sekisho.delivery").warning("answers not told", error=str(exc))
            return NO_NEWS
        told = [self._replies.told(language, row["question"], row["id"], row["answer"]) for row in answered]
        return News("".join(f"{one}\n\n" for one in told), tuple(row["id"] for row in answered))

    async def _take(self, conversation: Conversation, named: Sequence[str]) -> Sequence[RowMapping]:
        """Answers that nobody has told yet, marked as told: of two messages at once, one gets them."""
        now = datetime.now(UTC)
        untold = (
            # Expressions are in no index: by tenant or state SQLite would read all that was answered of late.
            tickets.c.tenant.concat("") == conversation.tenant,
            tickets.c.group.in_({"", conversation.group}),
            tickets.c.state.concat("") == "answered",
            asked_by_somebody,
            tickets.c.told_at.is_(None),
            tickets.c.answered_at > now - REMEMBERED,
        )
        async with self._db.quick.connect() as connection:  # most have nothing waiting: no write lock
            waiting = select(tickets.c.id).where(*untold, _of_asker(connection, conversation.asker, named))
            ids = (await connection.scalars(waiting.order_by(tickets.c.answered_at).limit(AT_ONCE))).all()
        if not ids:
            return ()
        taken = update(tickets).where(*untold, tickets.c.id.in_(ids)).values(told_at=now)
        shown = taken.returning(tickets.c.id, tickets.c.question, tickets.c.answer, tickets.c.answered_at)
        async with self._db.quick.begin() as connection:
            rows = (await connection.execute(shown)).mappings().all()
            for row in rows:
                detail = {"request_id": conversation.request_id}
                await record_event(connection, row["id"], "told", by="gateway", detail=detail)
        return sorted(rows, key=lambda row: row["answered_at"])


def _named(conversation: Conversation) -> Sequence[str]:
    """The ticket numbers in our replies of the conversation."""
    ours = (turn.text for turn in conversation.turns if turn.role == "assistant")
    return list(dict.fromkeys(number for text in ours for number in _NUMBER.findall(text)))[-LOOKED_AT:]


def _of_asker(connection: AsyncConnection, asker: str | None, named: Sequence[str]) -> ColumnElement[bool]:
    """Which tickets are this asker's."""
    if not asker:
        return tickets.c.id.in_(named)
    nameless = and_(tickets.c.id.in_(named), tickets.c.asker.is_(None))  # another's proves nothing
    return or_(holds(connection, tickets.c.asker, asker), nameless)
