"""Questions that wait for a person. SQL is the truth; every change is one transaction and leaves an event."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

from sqlalchemy import RowMapping, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database import Page, page, reading, writing
from gateway.domain import Question, Step
from gateway.errors import Conflict, InvalidRequest, NotFound, TicketNotStored
from gateway.review.steps import Json, rendered_steps, storable
from storage.schema import ticket_events
from storage.schema import tickets as table
from storage.sql import Database, DatabaseUnavailable

__all__ = [
    "Announcing",
    "NewTicket",
    "Ticket",
    "TicketEvent",
    "TicketOutcome",
    "TicketState",
    "Tickets",
    "canonical_id",
    "open_within",
    "record_event",
]

# answered: RAG did, and people read it; disputed: somebody was not content with an answer
TicketOutcome = Literal["withheld", "escalated", "answered", "disputed", "stale_entry"]
TicketState = Literal["open", "claimed", "answered", "dismissed"]

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # no I, L, O, U: nothing to mishear or misread
_MISREAD = str.maketrans("OIL", "011")
_ID_LENGTH = 8  # 2**40 ids
_ATTEMPTS = 4  # a fresh id that is already taken is drawn again


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A question that waits for a person, or waited, with everything the person needs."""

    id: str
    tenant: str
    group: str  # the asker's
    request_id: str
    asker: str | None
    language: str
    real_question: str
    question: str
    turns: tuple[Mapping[str, str], ...]  # the conversation before it: role, text
    outcome: TicketOutcome
    reason: str
    steps: tuple[Mapping[str, Any], ...]  # as gateway.review.steps renders them
    state: TicketState
    claimed_by: str | None
    answer: str | None
    entry_id: str | None  # the entry it became, or (stale_entry) asks to review
    revision: int
    created_at: datetime
    updated_at: datetime
    answered_at: datetime | None
    told_at: datetime | None = None  # in the conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTicket:
    """What a ticket is opened with."""

    tenant: str
    group: str
    request_id: str
    asker: str | None = None  # None: nobody asked, or nobody says who
    language: str
    real_question: str
    question: str
    turns: Sequence[Mapping[str, str]] = ()
    outcome: TicketOutcome
    reason: str
    steps: Sequence[Json] = ()
    entry_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketEvent:
    """Something that happened to a ticket, and who did it."""

    at: datetime
    by: str
    event: str
    detail: Mapping[str, Any]


class Announcing(Protocol):
    """Keeps what happened to a ticket for those outside who want to know, in the same transaction."""

    async def put(self, connection: AsyncConnection, ticket: Ticket, event: str, /) -> None: ...


def _drawn_id() -> str:
    """A random id that can be read out over the telephone."""
    return "T-" + "".join(secrets.choice(_CROCKFORD) for _ in range(_ID_LENGTH))


class Tickets:
    """All tickets. A ticket of another tenant is not there.

    What closes one ends in `_within`: other things change in the same transaction (`gateway.review.closing`).
    """

    def __init__(
        self,
        db: Database,
        *,
        draw_id: Callable[[], str] = _drawn_id,
        announcing: Announcing | None = None,
    ) -> None:
        self._db = db
        self._draw_id = draw_id
        self._announcing = announcing

    async def open(
        self,
        question: Question,
        *,
        outcome: Literal["withheld", "escalated", "answered"],
        reason: str,
        steps: tuple[Step, ...],
    ) -> str:
        """Keep a question for a person and return the ticket's id; it is on disk when this returns.

        Raises:
            TicketNotStored: if it could not be kept. Nothing may be promised to the asker then.
        """
        new = _new(question, outcome=outcome, reason=reason, steps=rendered_steps(steps))
        detail = {"self_contained": question.self_contained}
        try:
            async with self._db.begin() as connection:
                return await open_within(connection, new, detail=detail, draw_id=self._draw_id)
        except (DatabaseUnavailable, SQLAlchemyError) as exc:
            raise TicketNotStored("the question could not be kept for a person; please ask again") from exc

    async def get(self, ticket_id: str, *, tenant: str) -> Ticket:
        """One ticket. Raises `NotFound`, also for another tenant's."""
        async with reading(self._db, "tickets") as connection:
            return await _fetch(connection, ticket_id, tenant=tenant)

    async def events(self, ticket_id: str, *, tenant: str) -> tuple[TicketEvent, ...]:
        """What happened to a ticket, in order."""
        async with reading(self._db, "tickets") as connection:
            ticket = await _fetch(connection, ticket_id, tenant=tenant)
            query = select(ticket_events).where(ticket_events.c.ticket_id == ticket.id)
            rows = (await connection.execute(query.order_by(ticket_events.c.id))).mappings().all()
        return tuple(
            TicketEvent(at=row["at"], by=row["by"], event=row["event"], detail=row["detail"]) for row in rows
        )

    async def list(
        self,
        *,
        tenant: str,
        state: TicketState | None = None,
        language: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Ticket]:
        """A page of a tenant's tickets, the oldest first, after the ticket `after`."""
        async with reading(self._db, "tickets") as connection:
            last = await _fetch(connection, after, tenant=tenant) if after is not None else None
            begin = (last.created_at, last.id) if last else None
            wanted = {"tenant": tenant, "state": state, "language": language}
            return await page(connection, table.c.created_at, _ticket, wanted, after=begin, limit=limit)

    async def count_open(self, *, older_than: timedelta = timedelta(0)) -> int:
        """How many tickets of all tenants wait for a person, claimed ones included."""
        waiting = table.c.state.in_(("open", "claimed")), table.c.created_at <= datetime.now(UTC) - older_than
        async with reading(self._db, "tickets") as connection:
            return await connection.scalar(select(func.count()).select_from(table).where(*waiting)) or 0

    async def claim(self, ticket_id: str, *, tenant: str, by: str) -> Ticket:
        """Take a ticket to work on it. Raises `Conflict` if another holds it; a repeat changes nothing."""
        async with writing(self._db, "tickets") as connection:
            ticket = await _held_by(connection, ticket_id, tenant=tenant, by=by)
            if ticket.state == "claimed":
                return ticket
            return await _change(
                connection, ticket, "claimed", by=by, values={"state": "claimed", "claimed_by": by}
            )

    async def release(self, ticket_id: str, *, tenant: str, by: str, as_admin: bool = False) -> Ticket:
        """Give a claimed ticket back to the others. An admin may for another; else `Conflict` is raised."""
        async with writing(self._db, "tickets") as connection:
            ticket = await _fetch(connection, ticket_id, tenant=tenant, to_change=True)
            _refuse_unless_held(ticket, by=(as_admin and ticket.claimed_by) or by)
            if ticket.state == "open":
                return ticket
            return await _change(
                connection, ticket, "released", by=by, values={"state": "open", "claimed_by": None}
            )

    async def dismiss_within(
        self, connection: AsyncConnection, ticket_id: str, *, tenant: str, by: str, comment: str = ""
    ) -> Ticket:
        """Close a ticket without an answer. Raises `Conflict` if another holds it."""
        values = {"state": "dismissed", "claimed_by": by}
        ticket = await _held_by(connection, ticket_id, tenant=tenant, by=by)
        detail = {"comment": storable(comment)}
        dismissed = await _change(connection, ticket, "dismissed", by=by, values=values, detail=detail)
        await self._announce(connection, dismissed, "dismissed")
        return dismissed

    async def refuse_leaning(self, ticket: Ticket, *, param: str) -> None:
        """Raise `InvalidRequest` if the question depends on earlier turns: alone it says something else."""
        opened = (await self.events(ticket.id, tenant=ticket.tenant))[0]
        if opened.detail.get("self_contained") is False:
            raise InvalidRequest(
                f"{param}: “{ticket.question[:100]}” depends on earlier turns; say it in full", param=param
            )

    async def reopen_within(
        self, connection: AsyncConnection, ticket_id: str, *, tenant: str, by: str
    ) -> Ticket:
        """Take a dismissal back; the ticket waits again, for anybody. A repeat changes nothing.

        Raises:
            Conflict: if somebody else dismissed it, or it was answered.
        """
        ticket = await _fetch(connection, ticket_id, tenant=tenant, to_change=True)
        if ticket.state == "open":
            return ticket
        if ticket.state != "dismissed" or ticket.claimed_by != by:
            raise Conflict(f"ticket {ticket.id} is {ticket.state} by {ticket.claimed_by}")
        values = {"state": "open", "claimed_by": None}
        return await _change(connection, ticket, "reopened", by=by, values=values)

    async def answer_within(
        self,
        connection: AsyncConnection,
        ticket_id: str,
        *,
        tenant: str,
        by: str,
        answer: str,
        entry_id: str | None = None,
    ) -> Ticket:
        """Answer a ticket; the same answer by the same person again changes nothing.

        Raises:
            Conflict: if another holds it, or it was answered otherwise.
        """
        text = storable(answer).strip()
        if not text:
            raise InvalidRequest("the answer is empty", param="answer")
        ticket = await _fetch(connection, ticket_id, tenant=tenant, to_change=True)
        entry_id = entry_id or ticket.entry_id  # that of a review or a dispute stays
        given = {"answer": text, "entry_id": entry_id, "claimed_by": by}
        if ticket.state == "answered" and given == {name: getattr(ticket, name) for name in given}:
            return ticket
        _refuse_unless_held(ticket, by=by)
        values = {**given, "state": "answered", "answered_at": datetime.now(UTC)}
        detail = {"entry_id": entry_id}
        answered = await _change(connection, ticket, "answered", by=by, values=values, detail=detail)
        await self._announce(connection, answered, "answered")
        return answered

    async def _announce(self, connection: AsyncConnection, ticket: Ticket, event: str) -> None:
        if self._announcing is not None:
            await self._announcing.put(connection, ticket, event)


async def _fetch(
    connection: AsyncConnection, ticket_id: str, *, tenant: str, to_change: bool = False
) -> Ticket:
    """A ticket inside a transaction; `to_change` keeps others from changing it until the end."""
    query = select(table).where(table.c.id == canonical_id(ticket_id), table.c.tenant == tenant)
    if to_change:
        query = query.with_for_update()  # SQLite has one writer at a time anyway
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        raise NotFound(f"there is no ticket {storable(ticket_id)[:40]}")
    return _ticket(row)


async def _held_by(connection: AsyncConnection, ticket_id: str, *, tenant: str, by: str) -> Ticket:
    """A ticket that this person may change: still open, or claimed by them."""
    ticket = await _fetch(connection, ticket_id, tenant=tenant, to_change=True)
    _refuse_unless_held(ticket, by=by)
    return ticket


def _refuse_unless_held(ticket: Ticket, *, by: str) -> None:
    if ticket.state in ("answered", "dismissed"):
        raise Conflict(f"ticket {ticket.id} was already {ticket.state} by {ticket.claimed_by}")
    if ticket.state == "claimed" and ticket.claimed_by != by:
        raise Conflict(f"ticket {ticket.id} is claimed by {ticket.claimed_by}")


async def _change(
    connection: AsyncConnection,
    ticket: Ticket,
    event: str,
    *,
    by: str,
    values: Mapping[str, Any],
    detail: Mapping[str, Any] | None = None,
) -> Ticket:
    """Change a ticket and record who did it, inside a transaction."""
    at = datetime.now(UTC)
    of_ticket = (table.c.id == ticket.id, table.c.revision == ticket.revision)
    new = {**values, "updated_at": at, "revision": ticket.revision + 1}
    changed = await connection.execute(update(table).where(*of_ticket).values(new))
    if changed.rowcount != 1:
        raise Conflict(f"ticket {ticket.id} was changed by somebody else; read it again")
    await record_event(connection, ticket.id, event, by=by, detail=detail or {})
    return await _fetch(connection, ticket.id, tenant=ticket.tenant)


def canonical_id(ticket_id: str) -> str:
    """The id as we write it, from what a person typed: `t-7k3mo q2x` may have been read out."""
    letters = re.sub("[^0-9A-Z]", "", ticket_id.upper())[: _ID_LENGTH + 8]
    if len(letters) > _ID_LENGTH:
        letters = letters.removeprefix("T")
    return f"T-{letters.translate(_MISREAD)}"


async def open_within(
    connection: AsyncConnection,
    new: NewTicket,
    *,
    detail: Mapping[str, Any] | None = None,
    by: str = "gateway",
    draw_id: Callable[[], str] = _drawn_id,
) -> str:
    """Keep a question for a person in a transaction that changes other things, too; the ticket's id.

    Raises:
        TicketNotStored: if every id that was drawn is taken.
    """
    ticket_id, now = await _free_id(connection, draw_id), datetime.now(UTC)
    row: dict[str, Any] = {name: getattr(new, name) for name in NewTicket.__dataclass_fields__}
    row |= {"turns": list(new.turns), "steps": list(new.steps)}
    row |= {"id": ticket_id, "state": "open", "created_at": now, "updated_at": now}
    await connection.execute(insert(table).values(row))
    noted = {"reason": new.reason, **(detail or {})}
    await record_event(connection, ticket_id, "opened", by=by, detail=noted)
    return ticket_id


async def _free_id(connection: AsyncConnection, draw_id: Callable[[], str]) -> str:
    for _ in range(_ATTEMPTS):
        drawn = draw_id()
        if await connection.scalar(select(table.c.id).where(table.c.id == drawn)) is None:
            return drawn
    raise TicketNotStored("no free ticket number was found; please ask again")


async def record_event(
    connection: AsyncConnection, ticket_id: str, event: str, *, by: str, detail: Mapping[str, Any]
) -> None:
    """Keep what happened to a ticket, in the transaction in which it does."""
    row = {"ticket_id": ticket_id, "at": datetime.now(UTC), "by": by, "event": event, "detail": dict(detail)}
    await connection.execute(insert(ticket_events).values(row))


def _new(question: Question, *, outcome: TicketOutcome, reason: str, steps: Sequence[Json]) -> NewTicket:
    conversation = question.conversation
    return NewTicket(
        tenant=conversation.tenant,
        group=conversation.group,
        request_id=conversation.request_id,
        asker=conversation.asker,
        language=question.language,
        real_question=storable(conversation.real_question),
        question=storable(question.text),
        turns=[{"role": turn.role, "text": storable(turn.text)} for turn in conversation.turns[:-1]],
        outcome=outcome,
        reason=reason,
        steps=steps,
    )


def _ticket(row: RowMapping) -> Ticket:
    return Ticket(**dict(row) | {"turns": tuple(row["turns"]), "steps": tuple(row["steps"])})
