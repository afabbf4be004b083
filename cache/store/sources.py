"""What becomes of entries when a document that they came from changes: none goes on being served unseen.

The state changes with the document, in one transaction; answering a question looks at nothing more.
A document that only has another name leaves its entries as they are: they name it so from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, Source
from cache.reading.text import exact_key
from cache.store import queries
from cache.store.rows import entries_from_rows
from cache.store.writing import remember, write_next, write_sources
from storage.parts import in_parts
from storage.schema import entries, entry_sources

__all__ = ["Outdated", "outdate", "rename", "set_stale"]


_DOCUMENTS_AT_ONCE = 500  # SQLite takes 32,766 values in a statement
# A draft is read before it is approved, a retired one by nobody.
_ANSWERING = entries.c.state.in_(("active", "paused", "stale"))


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
    whose = [] if tenant is None else [entries.c.tenant == tenant]
    for ids in in_parts(await _concerned(connection, versions, _ANSWERING, *whose), _DOCUMENTS_AT_ONCE):
        rows = await connection.execute(queries.with_phrasings().where(entries.c.id.in_(ids)))
        for entry in entries_from_rows(rows.mappings()):
            changed = tuple(source for source in entry.sources if _differs(source, versions))
            if changed:
                newly = entry.state != "stale"
                stale = await set_stale(connection, entry, now=now, by=by) if newly else entry
                outdated.append(Outdated(stale, changed, newly))
    return outdated


async def rename(
    connection: AsyncConnection, names: Mapping[str, str], *, now: datetime, by: str
) -> list[str]:
    """Have entries name these documents as they are called now; returns the ids of the entries.

    Args:
        connection: a write transaction.
        names: what a document was called, to what it is called.
    """
    renamed = []
    for ids in in_parts(await _concerned(connection, names), _DOCUMENTS_AT_ONCE):
        rows = await connection.execute(queries.with_phrasings().where(entries.c.id.in_(ids)))
        for entry in entries_from_rows(rows.mappings()):
            sources = tuple(
                replace(one, document=names.get(one.document, one.document)) for one in entry.sources
            )
            following = replace(entry, sources=sources, revision=entry.revision + 1, updated_at=now)
            await write_next(connection, following)
            await write_sources(connection, following)
            await remember(connection, following, by=by, change="sources_renamed")
            renamed.append(entry.id)
    return renamed


async def set_stale(connection: AsyncConnection, entry: Entry, *, now: datetime, by: str) -> Entry:
    """The entry in its next revision, which is not served."""
    stale = replace(entry, state="stale", revision=entry.revision + 1, updated_at=now)
    await write_next(connection, stale)
    await remember(connection, stale, by=by, change="outdated")
    return stale


async def _concerned(
    connection: AsyncConnection, named: Iterable[str], *further: ColumnElement[bool]
) -> list[str]:
    """The entries that name one of the documents, kept from other writers until the transaction ends."""
    found: dict[str, None] = {}
    for documents in in_parts(sorted(named), _DOCUMENTS_AT_ONCE):
        keys = [exact_key(document) for document in documents]
        statement = (
            select(entries.c.id)
            .join(entry_sources, entry_sources.c.entry_id == entries.c.id)
            .where(entry_sources.c.document_key.in_(keys), *further)
            .order_by(entries.c.id)
            .with_for_update(of=entries)
        )
        found |= dict.fromkeys(await connection.scalars(statement))
    return list(found)


def _differs(source: Source, versions: Mapping[str, str | None]) -> bool:
    return source.document in versions and versions[source.document] != source.version
