"""Entries that a person has to look at again: a document behind them changed, or their day has come.

The entry goes stale and its ticket opens in one transaction, so neither is ever without the other, and doing
it twice changes nothing. While a ticket waits, further changes are added to it; ticket and entry are in
another revision then, so that nobody approves a version of a document that they were not shown.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any, Literal

from sqlalchemy import ColumnElement, RowMapping, exists, func, not_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, Source
from cache.store import EntryStore
from cache.store.queries import changing, with_phrasings
from cache.store.rows import entries_from_rows
from cache.store.sources import Outdated, outdate, rename, set_stale
from gateway.database import writing
from gateway.documents.ingestion import DocumentChange
from gateway.errors import Conflict
from gateway.rendering import rendered, rendered_object
from gateway.review.tickets import WAITING, NewTicket, Ticket, Tickets, open_within, record_event
from storage.parts import in_parts
from storage.schema import entries, tickets
from storage.sql import Database

__all__ = [
    "REASONS",
    "Overdue",
    "ReviewDue",
    "SourceChange",
    "approve_again",
    "follow_renamed",
    "has_changed_since",
    "outdate_and_ask",
    "present_sources",
    "refuse_unread",
    "review_overdue",
    "unread_changes",
]

Overdue = Literal["keep", "stale"]

BY = "gateway"
# Of tickets that ask whether an entry is still right. What else is asked of one is answered for itself.
REASONS = ("review_due", "source_changed", "source_gone")
LONGEST_COMPARED = 400_000  # characters of both texts; more is no short difference
LONGEST_DIFF = 4_000  # characters
DIFF_LINES = 60
AT_ONCE = 200  # entries whose day of review has come, in one transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """A step of a ticket: a source of the entry is not what it was."""

    document: str
    was: str  # the version that the entry came from; "" if it names none
    now: str | None  # None: the document is gone
    diff: str  # unified, shortened; "" where the texts are not known


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDue:
    """A step of a ticket: the day by which the entry was to be read again has passed."""

    review_by: date


async def outdate_and_ask(
    connection: AsyncConnection, changes: Sequence[DocumentChange], *, tenant: str | None = None, by: str = BY
) -> list[Outdated]:
    """Make the entries of changed documents stale, and open a ticket for each; returns those concerned.

    Args:
        connection: a write transaction, that of the change itself where it is recorded in SQL.
        tenant: whose entries; None is all tenants'.
    """
    by_document = {change.document: change for change in changes}
    versions = {change.document: change.version for change in changes}
    outdated = await outdate(connection, versions, now=datetime.now(UTC), by=by, tenant=tenant)
    for one in outdated:
        await _ask(
            connection, one, [_change(source, by_document[source.document]) for source in one.sources], by=by
        )
    return outdated


async def follow_renamed(connection: AsyncConnection, names: Mapping[str, str]) -> None:
    """Have entries name documents as they are called now, and what their tickets told of them.

    Args:
        connection: a write transaction, that of the change itself.
        names: what a document was called, to what it is called; a change of its text is told by itself.
    """
    renamed = await rename(connection, names, now=datetime.now(UTC), by=BY)
    for ids in in_parts(renamed, AT_ONCE):
        of_them = tickets.c.entry_id.in_(ids), tickets.c.reason.in_(REASONS)
        for ticket in (await connection.execute(select(tickets.c.id, tickets.c.steps).where(*of_them))).all():
            steps = [_renamed(step, names) for step in ticket.steps]
            await connection.execute(update(tickets).where(tickets.c.id == ticket.id).values(steps=steps))


async def review_overdue(db: Database, *, today: date, overdue: Overdue = "keep") -> int:
    """Open tickets for active entries whose `review_by` has passed, at most 200 of a tenant; says how many.

    What is left waits for the next call. An entry has one ticket for each such day, and none if a person was
    asked to read it since, or has, for another reason; with `stale` it is not served until it was approved
    again.

    Raises:
        EntryConflict: somebody changed one of them meanwhile; what was opened for other tenants stays.
    """
    async with db.connect() as connection:
        waiting = await connection.scalars(select(entries.c.tenant).where(*_due(today)).distinct())
    opened = 0
    for tenant in waiting.all():
        async with changing(db, tenant) as connection:
            ids = select(entries.c.id).where(entries.c.tenant == tenant, *_due(today)).limit(AT_ONCE)
            rows = await connection.execute(with_phrasings().where(entries.c.id.in_(ids)))
            for entry in entries_from_rows(rows.mappings()):
                await _ask_as_due(connection, entry, overdue)
                opened += 1
    return opened


async def approve_again(asked: Tickets, store: EntryStore, entry: Entry, *, revision: int, by: str) -> Entry:
    """A stale entry is right as it stands: active, with the present versions, and who asked that is answered.

    Raises:
        EntryNotFound, EntryConflict, DuplicatePhrasing: then nothing has changed.
    """
    waiting = select(tickets.c.id).where(
        tickets.c.tenant == entry.tenant,
        tickets.c.entry_id == entry.id,
        tickets.c.reason.in_(REASONS),
        tickets.c.state.in_(WAITING),
    )
    async with store.db.connect() as connection:  # before: what opens later asks of what comes later
        ids = (await connection.scalars(waiting)).all()
    sources = await present_sources(store.db, entry)
    active = await store.change_state(
        entry.tenant, entry.id, "active", revision=revision, by=by, sources=sources
    )
    for ticket_id in ids:
        with suppress(Conflict):  # somebody else holds it, and will see that it is done
            async with writing(store.db, "tickets") as connection:
                await asked.answer_within(
                    connection, ticket_id, tenant=entry.tenant, by=by, answer=active.answer, entry_id=entry.id
                )
    return active


async def present_sources(db: Database, entry: Entry) -> tuple[Source, ...]:
    """An entry's sources in the versions that its tickets told the reviewer of, the last word on each.

    A source that is gone, or that somebody has edited since, stays as it is.
    """
    async with db.connect() as connection:
        told_of = await _told_of(connection, entry.tenant, entry.id)
    told = {(one.document, one.was): one.now for one in told_of if one.now is not None}
    return tuple(
        replace(source, version=told.get((source.document, source.version), source.version))
        for source in entry.sources
    )


async def unread_changes(connection: AsyncConnection, tenant: str, entry_id: str) -> set[str]:
    """The sources of a stale entry whose change a ticket tells of: whoever reads another has not seen it."""
    rows = await connection.execute(with_phrasings().where(entries.c.id == entry_id))
    found = [one for one in entries_from_rows(rows.mappings()) if one.state == "stale"]
    named = {(source.document, source.version) for entry in found for source in entry.sources}
    told_of = await _told_of(connection, tenant, entry_id) if named else []
    return {one.document for one in told_of if (one.document, one.was) in named}


def refuse_unread(ticket: Ticket, revision: int) -> None:
    """Raise `Conflict` if a source changed since that revision of the ticket, which is what was read."""
    if has_changed_since(ticket, revision):
        raise Conflict(
            f"a source of this entry changed since ticket {ticket.id} was read at revision {revision}: "
            f"read it again"
        )


def has_changed_since(ticket: Ticket, revision: int) -> bool:
    """Whether a source changed since that revision of a ticket that asks for its entry to be read."""
    came = [step.get("revision", 1) for step in ticket.steps if step.get("type") == "source_change"]
    return max(came, default=1) > revision


async def _told_of(connection: AsyncConnection, tenant: str, entry_id: str) -> list[SourceChange]:
    """What tickets told of the sources of an entry, in their order."""
    asked = (
        select(tickets.c.steps)
        .where(tickets.c.tenant == tenant, tickets.c.entry_id == entry_id, tickets.c.reason.in_(REASONS))
        .order_by(tickets.c.created_at)
    )
    return [one for steps in await connection.scalars(asked) for one in _changes_in(steps)]


async def _ask(
    connection: AsyncConnection, one: Outdated, changes: Sequence[SourceChange], *, by: str
) -> None:
    """Open a ticket, or add what it does not say yet to the one that waits."""
    last = None if one.newly else await _last_ticket(connection, one.entry)
    told = {change.document: change.now for change in _changes_in(last["steps"])} if last else {}
    new = [one for one in changes if one.document not in told or told[one.document] != one.now]
    if not new:
        return
    entry = one.entry
    if not one.newly:  # who reads it at this moment has not seen this
        entry = await set_stale(connection, entry, now=datetime.now(UTC), by=by)
    if last is not None and last["state"] in WAITING:
        await _add(connection, last, new, by=by)
    else:
        await _open(connection, entry, new, reason=_reason(new), by=by)


async def _ask_as_due(connection: AsyncConnection, entry: Entry, overdue: Overdue) -> None:
    assert entry.review_by is not None  # noqa: S101 - for the type checker: `_due` looks for nothing else
    step = ReviewDue(review_by=entry.review_by)
    if overdue == "stale":
        entry = await set_stale(connection, entry, now=datetime.now(UTC), by=BY)
    await _open(connection, entry, [step], reason="review_due", by=BY)


async def _last_ticket(connection: AsyncConnection, entry: Entry) -> RowMapping | None:
    query = (
        select(tickets.c.id, tickets.c.state, tickets.c.steps, tickets.c.revision)
        .where(tickets.c.entry_id == entry.id, tickets.c.reason.in_(REASONS))
        .order_by(tickets.c.created_at.desc())
        .limit(1)
        .with_for_update()
    )
    return (await connection.execute(query)).mappings().first()


async def _open(
    connection: AsyncConnection,
    entry: Entry,
    steps: Sequence[SourceChange | ReviewDue],
    *,
    reason: str,
    by: str,
) -> None:
    """A ticket that nobody asked: its question and answer are the entry's."""
    new = NewTicket(
        tenant=entry.tenant,
        group=entry.group,
        request_id=f"{entry.id}@{entry.revision}",
        language=entry.language,
        real_question=entry.question,
        question=entry.question,
        outcome="stale_entry",
        reason=reason,
        steps=[rendered(step) for step in steps],
        entry_id=entry.id,
    )
    await open_within(connection, new, by=by, detail={"entry_revision": entry.revision})


async def _add(
    connection: AsyncConnection, ticket: RowMapping, changes: Sequence[SourceChange], *, by: str
) -> None:
    revision = ticket["revision"] + 1
    new = {
        "steps": [*ticket["steps"], *(rendered_object(one) | {"revision": revision} for one in changes)],
        "reason": _reason(changes),
        "revision": revision,
        "updated_at": datetime.now(UTC),
    }
    await connection.execute(update(tickets).where(tickets.c.id == ticket["id"]).values(new))
    detail = {change.document: change.now for change in changes}
    await record_event(connection, ticket["id"], "changed", by=by, detail=detail)


def _due(today: date) -> list[ColumnElement[bool]]:
    """Active entries whose day has passed, and nobody was asked to read them since, or has."""
    last = func.coalesce(tickets.c.answered_at, tickets.c.created_at)
    asked = exists().where(
        tickets.c.entry_id == entries.c.id, tickets.c.reason.in_(REASONS), last >= entries.c.review_by
    )
    return [entries.c.state == "active", entries.c.review_by < today, not_(asked)]


def _reason(changes: Sequence[SourceChange]) -> str:
    return "source_gone" if all(change.now is None for change in changes) else "source_changed"


def _change(source: Source, change: DocumentChange) -> SourceChange:
    return SourceChange(document=source.document, was=source.version, now=change.version, diff=_diff(change))


def _changes_in(steps: Iterable[Mapping[str, Any]]) -> list[SourceChange]:
    """The changes among the steps of a ticket, as `rendered` wrote them."""
    names = SourceChange.__dataclass_fields__
    return [
        SourceChange(**{name: step[name] for name in names})
        for step in steps
        if step["type"] == "source_change"
    ]


def _renamed(step: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    if step["type"] != "source_change":
        return step
    return {**step, "document": names.get(step["document"], step["document"])}


def _diff(change: DocumentChange) -> str:
    """The changed lines with one around them, in a length that a person reads."""
    if not change.before or len(change.before) + len(change.after) > LONGEST_COMPARED:
        return ""
    lines = difflib.unified_diff(change.before.splitlines(), change.after.splitlines(), lineterm="", n=1)
    shown = list(islice(lines, 2, DIFF_LINES + 3))  # the first two would name files
    text = "\n".join(shown[:DIFF_LINES])
    cut = len(shown) > DIFF_LINES or len(text) > LONGEST_DIFF
    return f"{text[:LONGEST_DIFF]}\n…" if cut else text
