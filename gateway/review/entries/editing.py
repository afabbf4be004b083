"""Changing an entry: looked at first, then kept, so that its rivals are known before it is served."""

from __future__ import annotations

from dataclasses import replace

from cache.entries import Entry, EntryState
from cache.reading.text import normalise
from cache.store import EntryStore
from cache.store.content import Content, content_of
from gateway.review.entries.approval import Approval, would_be
from gateway.review.entries.rereview import approve_again
from gateway.review.tickets import Tickets

__all__ = ["edited", "moved", "phrased"]


async def edited(
    entries: EntryStore, approval: Approval, before: Entry, content: Content, *, revision: int, by: str
) -> Entry:
    """The entry with new content; `revision` is the one that the editor read.

    Raises:
        CacheError, Conflict: nothing was changed then.
    """
    await approval.check(would_be(content, tenant=before.tenant, entry_id=before.id, state=before.state))
    return await entries.edit(before.tenant, before.id, content, revision=revision, by=by)


async def moved(
    entries: EntryStore,
    tickets: Tickets,
    approval: Approval,
    before: Entry,
    state: EntryState,
    *,
    revision: int,
    by: str,
) -> Entry:
    """The entry in another state; a stale one that is activated was read again.

    Raises:
        CacheError, Conflict: nothing was changed then.
    """
    await approval.check(replace(before, state=state))
    if (before.state, state) == ("stale", "active"):
        return await approve_again(tickets, entries, before, revision=revision, by=by)
    return await entries.change_state(before.tenant, before.id, state, revision=revision, by=by)


async def phrased(entries: EntryStore, approval: Approval, entry: Entry, text: str, *, by: str) -> Entry:
    """The entry with one more phrasing; one that has it already, from a try that broke off, stays as it is.

    Raises:
        CacheError, Conflict: nothing was changed then.
    """
    if normalise(text) in map(normalise, entry.phrasings):
        return entry
    content = replace(content_of(entry), phrasings=(*entry.phrasings, text))
    return await edited(entries, approval, entry, content, revision=entry.revision, by=by)
