"""Writing entries: rows, revisions and their history, inside a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.errors import EntryConflict
from cache.store.content import content_of
from cache.store.rows import content_values, phrasing_rows, snapshot, source_rows
from storage.schema import entries, entry_history, entry_phrasings, entry_sources

__all__ = ["remember", "write_edited", "write_new", "write_next", "write_sources"]


async def write_new(connection: AsyncConnection, new: Sequence[Entry], *, by: str) -> None:
    """Write entries that were not there, and their history: a statement for each table."""
    if not new:
        return
    phrasings = [row for entry in new for row in phrasing_rows(entry.id, entry.tenant, entry.phrasings)]
    sources = [row for entry in new for row in source_rows(entry.id, entry.sources)]
    await connection.execute(insert(entries), [_entry_row(entry) for entry in new])
    await connection.execute(insert(entry_phrasings), phrasings)
    if sources:
        await connection.execute(insert(entry_sources), sources)
    await connection.execute(insert(entry_history), [_history_row(one, by, "created") for one in new])


def _entry_row(entry: Entry) -> dict[str, Any]:
    own = {"id": entry.id, "tenant": entry.tenant, "state": entry.state}
    times = {"created_at": entry.created_at, "updated_at": entry.updated_at}
    return content_values(content_of(entry)) | own | times


async def write_next(connection: AsyncConnection, entry: Entry) -> None:
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
        .values(content_values(content_of(entry)) | stamp)
    )
    if written.rowcount != 1:
        raise EntryConflict(entry.id, expected=entry.revision - 1, found=entry.revision)


async def write_edited(connection: AsyncConnection, entry: Entry, *, by: str) -> None:
    """Write the next revision of an entry with all that people wrote into it, and its history.

    Raises:
        EntryConflict: if someone else wrote it just now.
    """
    await write_next(connection, entry)
    await connection.execute(delete(entry_phrasings).where(entry_phrasings.c.entry_id == entry.id))
    rows = phrasing_rows(entry.id, entry.tenant, entry.phrasings)
    await connection.execute(insert(entry_phrasings), rows)
    await write_sources(connection, entry)
    await remember(connection, entry, by=by, change="edited")


async def write_sources(connection: AsyncConnection, entry: Entry) -> None:
    """Put what the entry is found by when a document changes in the place of what was there."""
    await connection.execute(delete(entry_sources).where(entry_sources.c.entry_id == entry.id))
    if rows := source_rows(entry.id, entry.sources):
        await connection.execute(insert(entry_sources), rows)


async def remember(connection: AsyncConnection, entry: Entry, *, by: str, change: str) -> None:
    """Keep the entry as it is now in its history."""
    await connection.execute(insert(entry_history), _history_row(entry, by, change))


def _history_row(entry: Entry, by: str, change: str) -> dict[str, Any]:
    return {
        "entry_id": entry.id,
        "revision": entry.revision,
        "at": entry.updated_at,
        "by": by,
        "change": change,
        "snapshot": snapshot(entry),
    }
