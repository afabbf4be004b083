"""Forgetting an asker: what they wrote goes, what people made of it stays, and a line says that it was done.

Everything is one transaction. Verified entries stay, for they are the reviewers' words; where one is asked
for in theirs, a ticket asks whether that phrasing may stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import structlog
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.store.queries import changing
from cache.store.rows import new_id
from gateway.database import reading
from gateway.errors import InvalidRequest
from gateway.retention.traces import Traces, asker_key, chunks, traces_of
from gateway.retention.wiping import close_requests, delete_answers, delete_tickets, redact_disputes
from gateway.retention.words import ask_about_phrasings, forget_examples, forget_suggestions
from storage.schema import erasures as table
from storage.sql import Database, DatabaseUnavailable

__all__ = ["Erasure", "Erasures", "keep", "purge"]

LONGEST_ASKER = 1_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Something was deleted; neither a text nor a name is in here."""

    id: str
    at: datetime
    tenant: str  # empty: of all of them, by age
    by: str
    kind: str  # asker | age
    asker_key: str | None
    counts: Mapping[str, int]  # rows by table
    entries: tuple[str, ...]  # that have a phrasing in their words


class Erasures:
    """Forgets askers, and knows what was forgotten."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def forget(self, asker: str, *, tenant: str, by: str) -> Erasure:
        """Delete what an asker of a tenant left here. A repeat deletes what came since.

        What the database's files still hold of it goes with a later deletion if it can't go now.

        Raises:
            InvalidRequest: if the id can't be one.
            DatabaseUnavailable: then nothing was deleted.
        """
        if not 0 < len(asker) <= LONGEST_ASKER:
            raise InvalidRequest(f"asker: expected 1 to {LONGEST_ASKER} characters", param="asker")
        async with changing(self._db, tenant) as connection:
            traces = await traces_of(connection, tenant, asker)
            counts, entries = await _forgotten(connection, traces, by=by)
            key = asker_key(tenant, asker)
            erasure = await keep(
                connection, tenant=tenant, by=by, kind="asker", counts=counts, asker_key=key, entries=entries
            )
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


async def keep(
    connection: AsyncConnection,
    *,
    tenant: str,
    by: str,
    kind: str,
    counts: Mapping[str, int],
    asker_key: str | None = None,
    entries: tuple[str, ...] = (),
) -> Erasure:
    """Write down that something was deleted, in the transaction that does it."""
    erasure = Erasure(
        id=new_id(),
        at=datetime.now(UTC),
        tenant=tenant,
        by=by,
        kind=kind,
        asker_key=asker_key,
        counts={name: n for name, n in counts.items() if n},
        entries=entries,
    )
    values: dict[str, Any] = {name: getattr(erasure, name) for name in Erasure.__dataclass_fields__}
    await connection.execute(insert(table).values(values | {"entries": list(entries)}))
    return erasure


async def _forgotten(
    connection: AsyncConnection, traces: Traces, *, by: str
) -> tuple[Counter[str], tuple[str, ...]]:
    """Delete it, table by table; what was deleted, and the entries that are asked for in their words."""
    counts: Counter[str] = Counter()
    aliases = {request: f"forgotten-{uuid4().hex}" for request in traces.requests}
    counts["gate_examples"] = await forget_examples(connection, traces, by=by)
    counts["suggestions"] = await forget_suggestions(connection, traces)
    for some in (*chunks(traces.requests), []):
        counts["answers"] += await delete_answers(connection, traces, some)
    counts["ticket_events"] = await redact_disputes(connection, traces.tenant, aliases, but=traces.tickets)
    counts += await delete_tickets(connection, traces.tenant, traces.tickets)
    counts += await close_requests(connection, traces, aliases)
    entries = await ask_about_phrasings(connection, traces)
    return counts, entries
