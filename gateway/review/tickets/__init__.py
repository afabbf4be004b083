"""Questions that wait for a person. SQL is the truth; every change is one transaction and leaves an event.

    open ── claim ──► claimed ── answer ──► answered
      ▲ ◄── release ────┘ └───── dismiss ─► dismissed
      └───────────────── reopen ───────────────┘

An open ticket may be answered or dismissed without a claim. Only whoever claimed a ticket may change it, and
an admin may release it. What closes a ticket takes a connection: in the same transaction its answer becomes
an entry, the judges learn, and those outside are told (`gateway.review.closing`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database import Page, page, reading, writing
from gateway.domain import Question, Step
from gateway.errors import Conflict, InvalidRequest, TicketNotStored
from gateway.rendering import Json, rendered_steps
from gateway.review.tickets.ticket import (
    WAITING,
    NewTicket,
    Ticket,
    TicketEvent,
    TicketOutcome,
    TicketState,
    canonical_id,
    drawn_id,
    ticket_of,
)
from gateway.review.tickets.within import (
    change,
    fetch,
    held_by,
    open_within,
    record_event,
    refuse_unless_held,
)
from storage.schema import ticket_events
from storage.schema import tickets as table
from storage.sql import Database, DatabaseUnavailable
from storage.texts import storable

__all__ = [
    "WAITING",
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
    "ticket_of",
]


class Announcing(Protocol):
    """Keeps what happened to a ticket for those outside who want to know, in the same transaction."""

    async def put(self, connection: AsyncConnection, ticket: Ticket, event: str, /) -> None: ...


class Tickets:
    """All tickets. A ticket of another tenant is not there.

    What closes one ends in `_within`: other things change in the same transaction (`gateway.review.closing`).
    """

    def __init__(
        self,
        db: Database,
        *,
        draw_id: Callable[[], str] = drawn_id,
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
            async with self._db.quick.begin() as connection:
                return await open_within(connection, new, detail=detail, draw_id=self._draw_id)
        except (DatabaseUnavailable, SQLAlchemyError) as exc:
            raise TicketNotStored("the question could not be kept for a person; please ask again") from exc

    async def get(self, ticket_id: str, *, tenant: str) -> Ticket:
        """One ticket. Raises `NotFound`, also for another tenant's."""
        async with reading(self._db.quick, "tickets") as connection:
            return await fetch(connection, ticket_id, tenant=tenant)

    async def events(self, ticket_id: str, *, tenant: str) -> tuple[TicketEvent, ...]:
        """What happened to a ticket, in order."""
        async with reading(self._db, "tickets") as connection:
            ticket = await fetch(connection, ticket_id, tenant=tenant)
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
            last = await fetch(connection, after, tenant=tenant) if after is not None else None
            begin = (last.created_at, last.id) if last else None
            wanted = {"tenant": tenant, "state": state, "language": language}
            return await page(connection, table.c.created_at, ticket_of, wanted, after=begin, limit=limit)

    async def count_open(self, *, older_than: timedelta = timedelta(0)) -> int:
        """How many tickets of all tenants wait for a person, claimed ones included."""
        waiting = table.c.state.in_(WAITING), table.c.created_at <= datetime.now(UTC) - older_than
        async with reading(self._db, "tickets") as connection:
            return await connection.scalar(select(func.count()).select_from(table).where(*waiting)) or 0

    async def claim(self, ticket_id: str, *, tenant: str, by: str) -> Ticket:
        """Take a ticket to work on it. Raises `Conflict` if another holds it; a repeat changes nothing."""
        async with writing(self._db, "tickets") as connection:
            ticket = await held_by(connection, ticket_id, tenant=tenant, by=by)
            if ticket.state == "claimed":
                return ticket
            return await change(
                connection, ticket, "claimed", by=by, values={"state": "claimed", "claimed_by": by}
            )

    async def release(self, ticket_id: str, *, tenant: str, by: str, as_admin: bool = False) -> Ticket:
        """Give a claimed ticket back to the others. An admin may for another; else `Conflict` is raised."""
        async with writing(self._db, "tickets") as connection:
            ticket = await fetch(connection, ticket_id, tenant=tenant, to_change=True)
            refuse_unless_held(ticket, by=(as_admin and ticket.claimed_by) or by)
            if ticket.state == "open":
                return ticket
            return await change(
                connection, ticket, "released", by=by, values={"state": "open", "claimed_by": None}
            )

    async def dismiss_within(
        self, connection: AsyncConnection, ticket_id: str, *, tenant: str, by: str, comment: str = ""
    ) -> Ticket:
        """Close a ticket without an answer. Raises `Conflict` if another holds it."""
        values = {"state": "dismissed", "claimed_by": by}
        ticket = await held_by(connection, ticket_id, tenant=tenant, by=by)
        detail = {"comment": storable(comment)}
        dismissed = await change(connection, ticket, "dismissed", by=by, values=values, detail=detail)
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
        ticket = await fetch(connection, ticket_id, tenant=tenant, to_change=True)
        if ticket.state == "open":
            return ticket
        if ticket.state != "dismissed" or ticket.claimed_by != by:
            raise Conflict(f"ticket {ticket.id} is {ticket.state} by {ticket.claimed_by}")
        values = {"state": "open", "claimed_by": None}
        return await change(connection, ticket, "reopened", by=by, values=values)

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
        ticket = await fetch(connection, ticket_id, tenant=tenant, to_change=True)
        entry_id = entry_id or ticket.entry_id  # that of a review or a dispute stays
        given = {"answer": text, "entry_id": entry_id, "claimed_by": by}
        if ticket.state == "answered" and given == {name: getattr(ticket, name) for name in given}:
            return ticket
        refuse_unless_held(ticket, by=by)
        values = {**given, "state": "answered", "answered_at": datetime.now(UTC)}
        detail = {"entry_id": entry_id}
        answered = await change(connection, ticket, "answered", by=by, values=values, detail=detail)
        await self._announce(connection, answered, "answered")
        return answered

    async def _announce(self, connection: AsyncConnection, ticket: Ticket, event: str) -> None:
        if self._announcing is not None:
            await self._announcing.put(connection, ticket, event)


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
