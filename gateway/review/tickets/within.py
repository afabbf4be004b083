"""What is done to a ticket inside a transaction that may change other things, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database import row_of
from gateway.errors import Conflict, TicketNotStored
from gateway.review.tickets.ticket import NewTicket, Ticket, canonical_id, drawn_id, ticket_of
from storage.schema import ticket_events
from storage.schema import tickets as table

__all__ = ["change", "fetch", "held_by", "open_within", "record_event", "refuse_unless_held"]

ATTEMPTS = 4  # a fresh id that is already taken is drawn again


async def open_within(
    connection: AsyncConnection,
    new: NewTicket,
    *,
    detail: Mapping[str, Any] | None = None,
    by: str = "gateway",
    draw_id: Callable[[], str] = drawn_id,
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
    for _ in range(ATTEMPTS):
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


async def fetch(
    connection: AsyncConnection, ticket_id: str, *, tenant: str, to_change: bool = False
) -> Ticket:
    """A ticket inside a transaction; `to_change` keeps others from changing it until the end."""
    id_ = canonical_id(ticket_id)
    row = await row_of(connection, table, id_, tenant=tenant, what="ticket", to_change=to_change)
    return ticket_of(row)


async def held_by(connection: AsyncConnection, ticket_id: str, *, tenant: str, by: str) -> Ticket:
    """A ticket that this person may change: still open, or claimed by them."""
    ticket = await fetch(connection, ticket_id, tenant=tenant, to_change=True)
    refuse_unless_held(ticket, by=by)
    return ticket


def refuse_unless_held(ticket: Ticket, *, by: str) -> None:
    """Raise `Conflict` if a ticket is closed, or somebody else's."""
    if ticket.state in ("answered", "dismissed"):
        raise Conflict(f"ticket {ticket.id} was already {ticket.state} by {ticket.claimed_by}")
    if ticket.state == "claimed" and ticket.claimed_by != by:
        raise Conflict(f"ticket {ticket.id} is claimed by {ticket.claimed_by}")


async def change(
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
    return await fetch(connection, ticket.id, tenant=ticket.tenant)
