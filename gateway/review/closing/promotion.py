"""A person's answer to a ticket becomes a verified entry, and the next such question needs no person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, EntryKind, Source
from cache.store import EntryStore, Incoming
from cache.store.content import Content, content_of
from gateway.review.entries.approval import would_be
from gateway.review.entries.provenance import draft_sources, in_present_version
from gateway.review.entries.rereview import present_sources
from gateway.review.tickets import Ticket

__all__ = ["OF_ENTRY", "Publication", "entry_id_of", "publish_within", "to_be"]

OF_ENTRY = ("stale_entry", "disputed")  # such a ticket is about an entry that is there
_ENTRIES_OF_TICKETS = UUID("5f0c2c5e-4f4b-4d0e-8a3a-9a1b6a0f7c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What the reviewer says of the entry besides its answer."""

    kind: EntryKind = "ground_truth"
    question: str | None = None  # how the entry asks; None: as the ticket does
    phrasings: tuple[str, ...] = ()  # other ways to ask the same
    sources: tuple[Source, ...] | None = None  # None: what the draft was written from, if it is as it was
    group: str | None = None  # who may read it; None: the asker's group
    language: str | None = None  # None: that of the ticket


async def to_be(
    entries: EntryStore,
    ticket: Ticket,
    answer: str,
    publication: Publication,
    *,
    by: str,
    check: Callable[[Entry], Awaitable[None]] | None = None,
) -> Content:
    """What the entry of a ticket is to be.

    Args:
        check: is shown the entry, if it is a new one, and raises what keeps it from being published.

    Raises:
        EntryNotFound; InvalidEntry, if there is a check.
    """
    content = await _content(entries, ticket, answer, publication, by=by)
    if check is None:
        return content
    async with entries.db.connect() as connection:
        stands = await _standing(connection, entries, ticket, content)
    if stands is None:
        await check(would_be(content, tenant=ticket.tenant, entry_id=entry_id_of(ticket)))
    return content


async def publish_within(
    connection: AsyncConnection, entries: EntryStore, ticket: Ticket, content: Content, *, by: str
) -> Entry:
    """The active entry of a ticket, in a transaction that answers it, too (`queries.changing`).

    It is no new one where another ticket's, say, answers this question so already.
    """
    if (stands := await _standing(connection, entries, ticket, content)) is not None:
        return stands
    incoming = Incoming(content=content, state="active", id=entry_id_of(ticket))
    return (await entries.put_within(connection, ticket.tenant, incoming, by=by)).entry


async def _standing(
    connection: AsyncConnection, entries: EntryStore, ticket: Ticket, content: Content
) -> Entry | None:
    """The entry that already says what that of a ticket is to say: a second one would compete with it."""
    if ticket.outcome in OF_ENTRY and ticket.entry_id is not None:  # asks for its own entry to be changed
        return None
    return await entries.saying(connection, ticket.tenant, content)


def entry_id_of(ticket: Ticket) -> str:
    """The id of the entry that a ticket becomes, whenever it does, or asks to review."""
    if ticket.outcome in OF_ENTRY and ticket.entry_id is not None:
        return ticket.entry_id
    return str(uuid5(_ENTRIES_OF_TICKETS, f"{ticket.tenant}/{ticket.id}"))


async def _content(
    entries: EntryStore, ticket: Ticket, answer: str, publication: Publication, *, by: str
) -> Content:
    if ticket.outcome in OF_ENTRY and ticket.entry_id is not None:
        return await _reviewed(entries, ticket, answer, publication)
    sources = draft_sources(ticket) if publication.sources is None else publication.sources
    return Content(
        kind=publication.kind,
        group=ticket.group if publication.group is None else publication.group,
        language=publication.language or ticket.language,
        phrasings=(publication.question or ticket.question, *publication.phrasings),
        answer=answer,
        owner=by,
        sources=await in_present_version(entries.db, sources),
    )


async def _reviewed(entries: EntryStore, ticket: Ticket, answer: str, publication: Publication) -> Content:
    """What the entry says, with the answer and whatever else the reviewer changed."""
    entry = await entries.get(ticket.tenant, entry_id_of(ticket))
    before, sources = content_of(entry), await present_sources(entries.db, entry)
    if publication.sources is not None:
        known = {one.document: one for one in sources}
        named = [one if one.version else known.get(one.document, one) for one in publication.sources]
        sources = await in_present_version(entries.db, named)
    first = publication.question or entry.question
    return replace(
        before,
        group=before.group if publication.group is None else publication.group,
        language=publication.language or before.language,
        phrasings=(first, *entry.phrasings, *publication.phrasings),
        answer=answer,
        sources=sources,
    )
