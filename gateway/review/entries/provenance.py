"""Which documents an answer came from, and in which version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Source
from cache.store.content import LONGEST_DOCUMENT, MOST_SOURCES
from gateway.errors import Conflict
from gateway.review.entries.rereview import REASONS, unread_changes
from gateway.review.tickets import Ticket
from storage.schema import documents, outcomes
from storage.sql import Database

__all__ = ["changed_since_draft", "draft_sources", "in_present_version", "refuse_changed"]

_PAGES = ("http://", "https://")  # of a web search


def draft_sources(ticket: Ticket) -> tuple[Source, ...]:
    """The documents of the passages that the draft of a ticket was written from."""
    names = dict.fromkeys(name for name in _sources(ticket) if _can_be_kept(name))
    return tuple(Source(name, "") for name in names)[:MOST_SOURCES]


async def in_present_version(db: Database, sources: Sequence[Source]) -> tuple[Source, ...]:
    """The sources; one of our own documents that states no version gets the present one."""
    wanted = [source.document for source in sources if not source.version]
    if not wanted:
        return tuple(sources)
    query = select(documents.c.path, documents.c.version).where(documents.c.path.in_(wanted))
    async with db.connect() as connection:
        versions = {row.path: row.version for row in await connection.execute(query)}
    return tuple(
        replace(source, version=source.version or versions.get(source.document, "")) for source in sources
    )


async def changed_since_draft(connection: AsyncConnection, ticket: Ticket) -> tuple[str, ...]:
    """Our own documents that the draft of a ticket was written from, and that have changed or gone since.

    Of a ticket on an entry, those of its sources that have, as another ticket tells.
    """
    if ticket.entry_id is not None:
        if ticket.reason in REASONS:  # it tells of them itself
            return ()
        changed = await unread_changes(connection, ticket.tenant, ticket.entry_id)
        return tuple(sorted(changed))
    names = [source.document for source in draft_sources(ticket)]
    if not names:
        return ()
    written = ticket.created_at
    if ticket.outcome == "disputed":  # the draft went out; the ticket came when somebody was not content
        same = (outcomes.c.tenant == ticket.tenant, outcomes.c.request_id == ticket.request_id)
        written = await connection.scalar(select(func.min(outcomes.c.at)).where(*same)) or written
    ours = set(_own_documents(ticket))
    query = select(documents.c.path, documents.c.updated_at).where(documents.c.path.in_({*names, *ours}))
    there = {row.path: row.updated_at for row in await connection.execute(query)}
    changed = {path for path, updated_at in there.items() if updated_at > written}
    return tuple(sorted(changed | (ours - there.keys())))


async def refuse_changed(connection: AsyncConnection, ticket: Ticket) -> None:
    """Raise `Conflict` if the draft says what a document does not say any more, for all that we know."""
    if changed := await changed_since_draft(connection, ticket):
        raise Conflict(
            f"{', '.join(changed)} changed since this draft was written: read it again, if it is still "
            "there, and name the sources",
            param="sources",
        )


def _can_be_kept(name: str) -> bool:
    """A chatbot may name its passages as it likes; no answer fails to be published over that."""
    return 0 < len(name) <= LONGEST_DOCUMENT and name.isprintable()


def _sources(ticket: Ticket) -> Iterator[str]:
    for draft in _drafts(ticket):
        for passage in draft["contexts"]:
            yield " ".join(passage["source"].split())


def _own_documents(ticket: Ticket) -> Iterator[str]:
    """What was found by our own retrieval, which alone is corrected; a chatbot's names may be anything."""
    for draft in _drafts(ticket):
        if draft.get("correction"):
            found = (passage["source"] for passage in draft["contexts"])
            yield from (source for source in found if not source.startswith(_PAGES))


def _drafts(ticket: Ticket) -> Iterator[Mapping[str, Any]]:
    for step in ticket.steps:
        if step.get("stage") == "rag" and step["found"]["type"] == "draft":
            yield step["found"]
