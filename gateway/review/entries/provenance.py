"""Which documents an answer came from, and in which version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Source
from cache.store.content import LONGEST_DOCUMENT, MOST_SOURCES
from gateway.errors import Conflict
from gateway.review.tickets import Ticket
from storage.schema import documents, outcomes
from storage.sql import Database

__all__ = ["changed_since_draft", "draft_sources", "in_present_version", "refuse_changed"]


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
    """Our own documents that the draft of a ticket was written from, and that have changed since."""
    names = [source.document for source in draft_sources(ticket)]
    if not names:
        return ()
    written = ticket.created_at
    if ticket.outcome == "disputed":  # the draft went out; the ticket came when somebody was not content
        same = (outcomes.c.tenant == ticket.tenant, outcomes.c.request_id == ticket.request_id)
        written = await connection.scalar(select(func.min(outcomes.c.at)).where(*same)) or written
    query = select(documents.c.path).where(documents.c.path.in_(names), documents.c.updated_at > written)
    return tuple(await connection.scalars(query.order_by(documents.c.path)))


async def refuse_changed(connection: AsyncConnection, ticket: Ticket) -> None:
    """Raise `Conflict` if the draft says what a document does not say any more, for all that we know."""
    if changed := await changed_since_draft(connection, ticket):
        raise Conflict(
            f"{', '.join(changed)} changed since this draft was written: read it again and name the sources",
            param="sources",
        )


def _can_be_kept(name: str) -> bool:
    """A chatbot may name its passages as it likes; no answer fails to be published over that."""
    return 0 < len(name) <= LONGEST_DOCUMENT and name.isprintable()


def _sources(ticket: Ticket) -> Iterator[str]:
    for step in ticket.steps:
        if step.get("stage") == "rag" and step["found"]["type"] == "draft":
            for passage in step["found"]["contexts"]:
                yield " ".join(passage["source"].split())
