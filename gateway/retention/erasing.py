"""Forgetting an asker: what they wrote goes, what people made of it stays, and a line says that it was done.

Some requests at a time: each transaction takes all that they left, so others write in between, and what a
crash leaves are whole requests that the next try finds. Verified entries stay, for they are the reviewers'
words; where one is asked for in theirs, a ticket asks whether that phrasing may stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.store.queries import changing
from cache.store.rows import new_id
from gateway.database import reading
from gateway.errors import InvalidRequest
from gateway.retention.traces import Left, left_by, traces_of
from gateway.retention.wiping import close_requests, delete_answers, delete_tickets, redact_disputes
from gateway.retention.words import ask_about_phrasings, forget_examples, forget_suggestions
from storage.locking import in_turns
from storage.schema import erasures as table
from storage.sql import Database, DatabaseUnavailable
from storage.upserting import insert_into

__all__ = ["Erasure", "Erasures", "keep", "purge"]

LONGEST_ASKER = 1_000  # characters
AT_ONCE = 200  # requests in one transaction: nobody who writes waits long


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Something was deleted; neither a text nor a name is in here."""

    id: str = field(default_factory=new_id)
    at: datetime = field(default_factory=partial(datetime.now, UTC))
    tenant: str  # empty: of all of them, by age
    by: str
    kind: str  # asker | age
    asker_key: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)  # rows by table, none of 0
    entries: tuple[str, ...] = ()  # that have a phrasing in their words


class Erasures:
    """Forgets askers, and knows what was forgotten."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def forget(self, asker: str, *, tenant: str, by: str) -> Erasure:
        """Delete what an asker of a tenant left here. A repeat deletes what came since, or was not reached.

        After a crash the erasure's line counts what went until then, and that of the repeat the rest. Nothing
        ties the two together: in feedback they are two people without a name. What the database's files still
        hold goes with a later deletion if it can't go now.

        Raises:
            InvalidRequest: if the id can't be one.
            DatabaseUnavailable: what was deleted until then stays deleted.
        """
        if not 0 < len(asker) <= LONGEST_ASKER:
            raise InvalidRequest(f"asker: expected 1 to {LONGEST_ASKER} characters", param="asker")
        async with self._db.connect() as connection:
            left = await left_by(connection, tenant, asker)
        erasure = Erasure(tenant=tenant, by=by, kind="asker", asker_key=left.key)
        try:
            async for some in in_turns(left.parts(AT_ONCE)):
                async with changing(self._db, tenant) as connection:
                    erasure = await _forgotten(connection, some, erasure)
                    await keep(connection, erasure)
        finally:
            await purge(self._db)
        return erasure

    async def list(self, tenant: str, *, limit: int = 50) -> tuple[Erasure, ...]:
        """A tenant's erasures and those of all tenants by age, the newest first."""
        query = select(table).where(table.c.tenant.in_((tenant, ""))).order_by(table.c.at.desc())
        async with reading(self._db, "erasures") as connection:
            rows = (await connection.execute(query.limit(limit))).mappings().all()
        return tuple(Erasure(**{**row, "entries": tuple(row["entries"])}) for row in rows)


async def purge(db: Database) -> None:
    """Let nothing that was deleted stay in the database's files; a log line where that has to wait."""
    try:
        done = await db.purge()
    except DatabaseUnavailable:
        done = False
    if not done:
        structlog.get_logger("sekisho.retention").warning("deleted, but still in the files of the database")


async def keep(connection: AsyncConnection, erasure: Erasure) -> None:
    """Write down what was deleted, in the transaction that does it; a line that is there grows."""
    values: dict[str, Any] = {name: getattr(erasure, name) for name in Erasure.__dataclass_fields__}
    values["entries"] = list(erasure.entries)
    grown = {name: values[name] for name in ("counts", "entries")}
    adding = insert_into(connection, table).on_conflict_do_update(index_elements=["id"], set_=grown)
    await connection.execute(adding, values)


async def _forgotten(connection: AsyncConnection, left: Left, erasure: Erasure) -> Erasure:
    """Delete what these requests left, table by table; the erasure with it."""
    traces = await traces_of(connection, left)
    counts = Counter(erasure.counts)
    counts["gate_examples"] += await forget_examples(connection, traces, by=erasure.by)
    counts["suggestions"] += await forget_suggestions(connection, traces)
    counts["answers"] += await delete_answers(connection, left)
    counts["ticket_events"] += await redact_disputes(connection, traces)
    counts += await delete_tickets(connection, traces.tickets)
    counts += await close_requests(connection, left)
    entries = {*erasure.entries, *await ask_about_phrasings(connection, traces)}
    return replace(erasure, counts=+counts, entries=tuple(sorted(entries)))
