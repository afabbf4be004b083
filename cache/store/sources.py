"""What becomes of entries when a document that they came from changes: none goes on being served unseen.

The state changes with the document, in one transaction; answering a question looks at nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, Source
from cache.reading.text import exact_key
from cache.store import queries
from cache.store.rows import entries_from_rows
from cache.store.writing import remember, write_next
from storage.parts import in_parts
from storage.schema import entries, entry_sources

__all__ = ["Outdated", "outdate", "set_stale"]


_DOCUMENTS_AT_ONCE = 500  # SQLite takes 32,766 values in a statement
_ANSWERING = ("active", "paused", "stale")  # a draft is read before it is approved, a retired one by nobody


@dataclass(frozen=True, slots=True)
class Outdated:
    """An entry, stale now, with those of its sources that changed."""

    entry: Entry
    sources: tuple[Source, ...]  # as the entry names them: in the version that it came from
    newly: bool  # False: it was stale before


async def outdate(
    connection: AsyncConnection,
    versions: Mapping[str, str | None],
    *,
    now: datetime,
    by: str,
    tenant: str | None = None,
) -> list[Outdated]:
    """Make the entries stale that came from another version of these documents.

    Args:
        connection: a write transaction.
        versions: document to its present version; None if it is gone.
        tenant: whose entries; None is all tenants'.
    """
    outdated = []
    for ids in in_parts(await _concerned(connection, versions, tenant), _DOCUMENTS_AT_ONCE):
        rows = await connection.execute(queries.with_phrasings().where(entries.c.id.in_(ids)))
        for entry in entries_from_rows(rows.mappings()):
            changed = tuple(source for source in entry.sources if _differs(source, versions))
            if changed:
                newly = entry.state != "stale"
                stale = await set_stale(connection, entry, now=now, by=by) if newly else entry
                outdated.append(Outdated(stale, changed, newly))
    return outdated


async def set_stale(connection: AsyncConnection, entry: Entry, *, now: datetime, by: str) -> Entry:
    """The entry in its next revision, which is not served."""
    stale = replace(entry, state="stale", revision=entry.revision + 1, updated_at=now)
    await write_next(connection, stale)
    await remember(connection, stale, by=by, change="outdated")
    return stale


async def _concerned(
    connection: AsyncConnection, versions: Mapping[str, str | None], tenant: str | None
) -> list[str]:
    """The entries that name one of the documents, kept from other writers until the transaction ends."""
    found: dict[str, None] = {}
    for documents in in_parts(sorted(versions), _DOCUMENTS_AT_ONCE):
        keys = [exact_key(document) for document in documents]
        statement = (
            select(entries.c.id)
            .join(entry_sources, entry_sources.c.entry_id == entries.c.id)
            .where(entry_sources.c.document_key.in_(keys), entries.c.state.in_(_ANSWERING))
            .order_by(entries.c.id)
            .with_for_update(of=entries)
        )
        if tenant is not None:
            statement = statement.where(entries.c.tenant == tenant)
        found |= dict.fromkeys(await connection.scalars(statement))
    return list(found)


def _differs(source: Source, versions: Mapping[str, str | None]) -> bool:
    return source.document in versions and versions[source.document] != source.version
