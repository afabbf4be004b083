"""Writing entries: rows, revisions and their history, inside a transaction that the caller holds."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.errors import EntryConflict
from cache.rows import phrasing_rows, snapshot, source_rows
from storage.schema import entries, entry_history, entry_phrasings, entry_sources

__all__ = ["remember", "write_new", "write_next", "write_phrasings", "write_sources"]


async def write_new(connection: AsyncConnection, entry: Entry, values: dict[str, Any]) -> None:
    """Write an entry that was not there; `values` are the columns that people write."""
    own = {"id": entry.id, "tenant": entry.tenant, "state": entry.state}
    times = {"created_at": entry.created_at, "updated_at": entry.updated_at}
    await connection.execute(insert(entries), values | own | times)
    await connection.execute(insert(entry_phrasings), phrasing_rows(entry.id, entry.tenant, entry.phrasings))
    if rows := source_rows(entry.id, entry.sources):
        await connection.execute(insert(entry_sources), rows)


async def write_next(connection: AsyncConnection, entry: Entry, values: dict[str, Any]) -> None:
    """Write the next revision of an entry.

    Raises:
        EntryConflict: if someone else did so just now.
    """
    stamp = {"revision": entry.revision, "updated_at": entry.updated_at, "state": entry.state}
    written = await connection.execute(
        update(entries)
        .where(
            entries.c.id == entry.id,
            entries.c.tenant == entry.tenant,
            entries.c.revision == entry.revision - 1,
        )
        .values(values | stamp)
    )
    if written.rowcount != 1:
        raise EntryConflict(entry.id, expected=entry.revision - 1, found=entry.revision)


async def write_phrasings(connection: AsyncConnection, entry: Entry) -> None:
    """Put the phrasings of an entry in the place of those that were there."""
    await connection.execute(delete(entry_phrasings).where(entry_phrasings.c.entry_id == entry.id))
    rows = phrasing_rows(entry.id, entry.tenant, entry.phrasings)
    await connection.execute(insert(entry_phrasings), rows)


async def write_sources(connection: AsyncConnection, entry: Entry) -> None:
    """Put what the entry is found by when a document changes in the place of what was there."""
    await connection.execute(delete(entry_sources).where(entry_sources.c.entry_id == entry.id))
    if rows := source_rows(entry.id, entry.sources):
        await connection.execute(insert(entry_sources), rows)


async def remember(connection: AsyncConnection, entry: Entry, *, by: str, change: str) -> None:
    """Keep the entry as it is now in its history."""
    row = {
        "entry_id": entry.id,
        "revision": entry.revision,
        "at": entry.updated_at,
        "by": by,
        "change": change,
        "snapshot": snapshot(entry),
    }
    await connection.execute(insert(entry_history), row)
