"""What has to reach somebody outside, kept in SQL in the transaction in which it happened.

Before a replica makes an attempt, it puts off the next one in a transaction of its own: the row is its own
until then. If it dies, the row is due again. So each is sent at least once, by one replica at a time, and the
receiver knows a repetition by its id. A library for retries repeats a call; here the next attempt may be made
tomorrow, by another process, so the schedule is a column.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import uuid4

from sqlalchemy import RowMapping, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database import Page, page, reading, row_of, writing
from gateway.errors import Conflict
from gateway.review.tickets import Ticket
from storage.schema import deliveries as table
from storage.sql import Database
from storage.texts import storable

__all__ = ["Delivery", "DeliveryState", "Outbox", "Receiver"]

DeliveryState = Literal["waiting", "sent", "dead"]

# As the Standard Webhooks specification proposes: about three days, then a person has to look.
AFTER_S = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
JITTER = 0.2  # share by which a wait is shortened or drawn out: a receiver that comes back is not run over
CLAIM_S = 90.0  # longer than any attempt may take
LONGEST_WAIT_S = 86_400.0  # that a receiver may ask for
AHEAD = timedelta(seconds=2 * LONGEST_WAIT_S)  # due so late only by a clock that was set back since
LONGEST_ERROR = 500
NOBODY = "the configuration names no such receiver"


@dataclass(frozen=True, slots=True)
class Receiver:
    """Somebody outside who wants to know of some events of a tenant's tickets."""

    name: str
    tenant: str
    events: frozenset[str]  # answered, dismissed


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Something on its way."""

    id: str
    tenant: str
    target: str
    event: str
    ticket_id: str | None
    body: Mapping[str, Any] | None = field(repr=False)
    state: DeliveryState
    attempts: int  # the present one included
    due_at: datetime
    error: str
    created_at: datetime
    sent_at: datetime | None


class Outbox:
    """Everything that was, is or could not be delivered."""

    def __init__(self, db: Database, receivers: Sequence[Receiver] = (), *, claim_s: float = CLAIM_S) -> None:
        self._db = db
        self._receivers = tuple(receivers)
        self._claim = timedelta(seconds=claim_s)

    async def put(self, connection: AsyncConnection, ticket: Ticket, event: str) -> None:
        """Keep what happened to a ticket for those who want to know, in the transaction in which it does."""
        if ticket.outcome == "stale_entry":  # nobody asked
            return
        rows = [
            _row(receiver.tenant, receiver.name, f"ticket.{event}", ticket_id=ticket.id)
            for receiver in self._receivers
            if receiver.tenant == ticket.tenant and event in receiver.events
        ]
        if rows:
            await connection.execute(insert(table), rows)

    async def put_notice(
        self, connection: AsyncConnection, *, tenant: str, target: str, body: Mapping[str, Any]
    ) -> None:
        """Keep a notice to the reviewers, in the transaction that says what it tells of."""
        await connection.execute(insert(table), [_row(tenant, target, "notice", body=body)])

    async def claim(self, target: str, *, limit: int) -> tuple[Delivery, ...]:
        """What is due to a target, ours until the claim lapses; what another replica holds is passed over."""
        now = datetime.now(UTC)
        due = (
            table.c.state == "waiting",
            or_(table.c.due_at <= now, table.c.due_at > now + AHEAD),
            table.c.target == target,
        )
        async with self._db.connect() as connection:  # no write lock is asked for while there is nothing
            if await connection.scalar(select(table.c.id).where(*due).limit(1)) is None:
                return ()
        query = select(table).where(*due).order_by(table.c.due_at).limit(limit)
        async with self._db.begin() as connection:
            rows = (await connection.execute(query.with_for_update(skip_locked=True))).mappings().all()
            ours = table.c.id.in_([row["id"] for row in rows])
            claimed = {"due_at": now + self._claim, "attempts": table.c.attempts + 1}
            await connection.execute(update(table).where(ours).values(claimed))
        return tuple(_delivery(dict(row) | {"attempts": row["attempts"] + 1}) for row in rows)

    async def sent(self, delivery: Delivery) -> None:
        """It has arrived."""
        await self._end(delivery, {"state": "sent", "sent_at": datetime.now(UTC), "error": ""})

    async def failed(
        self, delivery: Delivery, error: str, *, final: bool = False, retry_after_s: float | None = None
    ) -> bool:
        """It has not; says whether that was the last attempt."""
        dead = final or delivery.attempts > len(AFTER_S)
        values: dict[str, Any] = {"error": storable(error)[:LONGEST_ERROR]}
        if dead:
            values["state"] = "dead"
        else:
            wait_s = AFTER_S[delivery.attempts - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
            wait_s = max(wait_s, min(retry_after_s or 0.0, LONGEST_WAIT_S))
            values["due_at"] = datetime.now(UTC) + timedelta(seconds=wait_s)
        await self._end(delivery, values)
        return dead

    async def end_undeliverable(self, targets: Collection[str]) -> Mapping[str, int]:
        """Make dead letters of what waits for others than these targets; says for whom, and of how many.

        Only of what nobody took for as long as a claim lasts: another replica may still know the receiver.
        """
        late = table.c.state == "waiting", table.c.due_at < datetime.now(UTC) - self._claim
        left = (*late, table.c.target.not_in(targets))
        async with self._db.connect() as connection:  # no write lock is asked for while there is nothing
            if await connection.scalar(select(table.c.id).where(*left).limit(1)) is None:
                return {}
        ended = update(table).where(*left).values(state="dead", error=NOBODY).returning(table.c.target)
        async with self._db.begin() as connection:
            return Counter(await connection.scalars(ended))

    async def list(
        self, *, tenant: str, state: DeliveryState | None = None, limit: int = 50, after: str | None = None
    ) -> Page[Delivery]:
        """A page of a tenant's deliveries, the oldest first, after the delivery `after`."""
        async with reading(self._db, "deliveries") as connection:
            last = await _fetch(connection, after, tenant=tenant) if after is not None else None
            begin = (last.created_at, last.id) if last else None
            wanted = {"tenant": tenant, "state": state}
            return await page(connection, table.c.created_at, _delivery, wanted, after=begin, limit=limit)

    async def resend(self, delivery_id: str, *, tenant: str) -> Delivery:
        """Begin again with a dead letter, under the same id. Raises `Conflict` if it is not dead."""
        async with writing(self._db, "deliveries") as connection:
            found = await _fetch(connection, delivery_id, tenant=tenant, to_change=True)
            if found.state != "dead":
                raise Conflict(f"delivery {found.id} is {found.state}, only a dead one can be sent again")
            again = {"state": "waiting", "attempts": 0, "due_at": datetime.now(UTC)}
            await connection.execute(update(table).where(table.c.id == found.id).values(again))
            return await _fetch(connection, found.id, tenant=tenant)

    async def resend_all(self, *, tenant: str) -> int:
        """Begin again with all dead letters of a tenant; says with how many."""
        again = {"state": "waiting", "attempts": 0, "due_at": datetime.now(UTC)}
        dead = table.c.tenant == tenant, table.c.state == "dead"
        async with writing(self._db, "deliveries") as connection:
            return (await connection.execute(update(table).where(*dead).values(again))).rowcount

    async def count(self, state: DeliveryState, *, tenant: str | None = None) -> int:
        """How many deliveries of a tenant, or of all, are in a state."""
        counted = select(func.count()).select_from(table).where(table.c.state == state)
        if tenant is not None:
            counted = counted.where(table.c.tenant == tenant)
        async with reading(self._db, "deliveries") as connection:
            return await connection.scalar(counted) or 0

    async def _end(self, delivery: Delivery, values: Mapping[str, Any]) -> None:
        """Only the last claim may say what became of it: one that lapsed was made again by another."""
        ours = (table.c.id == delivery.id, table.c.attempts == delivery.attempts, table.c.state == "waiting")
        async with self._db.begin() as connection:
            await connection.execute(update(table).where(*ours).values(**values))


async def _fetch(
    connection: AsyncConnection, delivery_id: str, *, tenant: str, to_change: bool = False
) -> Delivery:
    what = "delivery"
    return _delivery(
        await row_of(connection, table, delivery_id, tenant=tenant, what=what, to_change=to_change)
    )


def _row(
    tenant: str,
    target: str,
    event: str,
    *,
    ticket_id: str | None = None,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "id": str(uuid4()),
        "tenant": tenant,
        "target": target,
        "event": event,
        "ticket_id": ticket_id,
        "body": body,
        "state": "waiting",
        "due_at": now,
        "created_at": now,
    }


def _delivery(row: RowMapping | Mapping[str, Any]) -> Delivery:
    return Delivery(**row)
