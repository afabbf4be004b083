"""Which documents an answer came from, and in which version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlalchemy import select

from cache.entries import Source
from cache.store.content import LONGEST_DOCUMENT, MOST_SOURCES
from gateway.review.tickets import Ticket
from storage.schema import documents
from storage.sql import Database

__all__ = ["draft_sources", "in_present_version"]


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


def _can_be_kept(name: str) -> bool:
    """A chatbot may name its passages as it likes; no answer fails to be published over that."""
    return 0 < len(name) <= LONGEST_DOCUMENT and name.isprintable()


def _sources(ticket: Ticket) -> Iterator[str]:
    for step in ticket.steps:
        if step.get("stage") == "rag" and step["found"]["type"] == "draft":
            for passage in step["found"]["contexts"]:
                yield " ".join(passage["source"].split())
