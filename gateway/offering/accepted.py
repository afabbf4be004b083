"""Askers who say "yes, that is what I meant": they get the verified answer, a reviewer gets their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.store import EntryStore
from cache.store.queries import changing
from cache.store.suggestions import Suggestions
from gateway.domain import Answered, Conversation, Outcome, Question, Reply, Turn
from gateway.errors import NotFound
from gateway.recording.batches import Batches
from storage.schema import asked_by_somebody, ticket_events, tickets
from storage.schema.base import holds
from storage.sql import Database
from storage.texts import storable

__all__ = ["AcceptedOffers"]

REMEMBERED = timedelta(days=1)  # how long an offer made in a chat may wait for its yes
LOOKED_AT = 5  # tickets with the same words
EVENT = "offer_accepted"


@dataclass(frozen=True, slots=True)
class _Offered:
    """A ticket in which an entry was offered."""

    id: str
    question: str
    language: str


@dataclass(frozen=True, slots=True)
class _Heard:
    """An asker sent a question that had just been offered to them."""

    conversation: Conversation
    before: str  # what they had written first
    entry: str


class AcceptedOffers:
    """Takes a yes over HTTP, and hears it in a chat. Only what was offered can be accepted."""

    def __init__(
        self,
        db: Database,
        entries: EntryStore,
        suggestions: Suggestions,
        *,
        on_lost: Callable[[int], None] = lambda rows: None,
    ) -> None:
        self._db = db
        self._entries = entries
        self._suggestions = suggestions
        self._heard = Batches("acceptances", self._write, on_lost=on_lost, at_once=1)  # each is a transaction
        self.run, self.flush = self._heard.run, self._heard.flush

    async def accept(self, asker: Conversation, *, request_id: str, entry_id: str, by: str) -> Reply:
        """The answer of an entry that was offered in reply to a request; its words become a suggestion.

        Raises:
            NotFound: if it was not offered to this tenant and group, or is not served any more.
        """
        of_request = tickets.c.request_id == storable(request_id)
        async with self._db.quick.connect() as connection:
            offered = await _offered(connection, asker, entry_id, of_request)
        if offered is None:
            raise NotFound("that entry was not offered in reply to that request", param="accept")
        entry = await self._served(asker, offered, entry_id)
        if entry is None:
            raise NotFound("that entry is not served any more; please ask again", param="accept")
        await self._remember(offered, entry, by=by)
        conversation = replace(asker, turns=(Turn("user", entry.question),))  # what they agreed to
        question = Question(text=offered.question, language=offered.language, conversation=conversation)
        answered = Answered(
            question=question, text=entry.answer, source=entry.kind, reason="accepted_offer", entry=entry.id
        )
        return Reply((answered,), entry.answer, offered.language)

    def outcome(self, outcome: Outcome, /) -> None:
        """Hear whether an exact hit is an asker's yes: they send what the turn before has offered them."""
        if not isinstance(outcome, Answered) or outcome.reason != "verified_exact" or outcome.entry is None:
            return
        turns = outcome.question.conversation.turns
        if len(turns) < 3 or (turns[-3].role, turns[-2].role) != ("user", "assistant"):
            return
        if outcome.question.text.strip() in turns[-2].text:
            self._heard.add(_Heard(outcome.question.conversation, turns[-3].text, outcome.entry))

    async def _write(self, heard: Sequence[_Heard]) -> None:
        for one in heard:
            async with self._db.connect() as connection:
                same_words = holds(connection, tickets.c.real_question, one.before)
                offered = await _offered(connection, one.conversation, one.entry, same_words)
            entry = offered and await self._served(one.conversation, offered, one.entry)
            if offered and entry:
                await self._remember(offered, entry, by="asker")

    async def _served(self, conversation: Conversation, offered: _Offered, entry_id: str) -> Entry | None:
        found = await self._entries.served(
            conversation.tenant, offered.language, [entry_id], group=conversation.group
        )
        return found[0] if found else None

    async def _remember(self, offered: _Offered, entry: Entry, *, by: str) -> None:
        """Note the yes on the ticket and count it, once however often it is said."""
        event = {"ticket_id": offered.id, "event": EVENT, "by": by, "detail": {"entry_id": entry.id}}
        noted = select(ticket_events.c.detail).where(
            ticket_events.c.ticket_id == offered.id, ticket_events.c.event == EVENT
        )
        async with changing(self._db.quick, entry.tenant) as connection:
            if any(one["entry_id"] == entry.id for one in await connection.scalars(noted)):
                return
            await connection.execute(insert(ticket_events), event | {"at": datetime.now(UTC)})
            asked = offered.question
            await self._suggestions.add_within(connection, entry, asked, source="accepted", by=by)


async def _offered(
    connection: AsyncConnection, conversation: Conversation, entry_id: str, which: ColumnElement[bool]
) -> _Offered | None:
    """The newest ticket of the asker's tenant and group whose reply offered the entry."""
    statement = (
        select(tickets.c.id, tickets.c.question, tickets.c.language, tickets.c.steps)
        .where(tickets.c.tenant == conversation.tenant, tickets.c.group == conversation.group, which)
        .where(asked_by_somebody, tickets.c.created_at > datetime.now(UTC) - REMEMBERED)
        .order_by(tickets.c.created_at.desc())
        .limit(LOOKED_AT)
    )
    rows = (await connection.execute(statement)).all()
    found = (_Offered(id_, text, language) for id_, text, language, steps in rows if _has(steps, entry_id))
    return next(found, None)


def _has(steps: Sequence[dict[str, Any]], entry_id: str) -> bool:
    offers = (one for step in steps if step["stage"] == "did_you_mean" for one in step["found"]["offers"])
    return any(one["entry"] == entry_id for one in offers)
