"""Verified entries in SQL. Every change is one transaction and leaves a full snapshot in the history.

an entry      comes in as    `content`       what people write, checked; `sources` are the documents behind it
              with others    `arrivals`      read at once, written at once
              is refused by  `claims`        the same question belongs to another
                             `two_persons`   its writer may not have it served
              is written by  `writing`       as `rows`, with its history
a question    finds          `served`        what its asker may read today; `known` was read before
a list        is asked for   `queries`       by filters, a page at a time
a phrasing    is proposed    `suggestions`   and never served by itself
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, EntryState, Source
from cache.errors import CacheError, EntryConflict, EntryNotFound, ForbiddenChange, OutdatedRow
from cache.reading.text import normalise
from cache.store import queries
from cache.store.arrivals import Arrivals
from cache.store.claims import Claims, refuse_duplicates
from cache.store.content import Content, checked, content_of
from cache.store.rows import entries_from_rows, entry_from_snapshot, new_id
from cache.store.served import ServedEntries, now_utc
from cache.store.two_persons import held_state, refuse_own
from cache.store.writing import remember, write_edited, write_new, write_next, write_sources
from storage.schema import entries, entry_history
from storage.sql import Database

__all__ = ["Change", "EntryStore", "Incoming", "Page", "Put"]

TRANSITIONS: dict[EntryState, dict[EntryState, str]] = {
    "draft": {"active": "activated", "retired": "retired"},
    "active": {"paused": "paused", "stale": "outdated", "retired": "retired"},
    "paused": {"active": "activated", "stale": "outdated", "retired": "retired"},
    "stale": {"active": "activated", "paused": "paused", "retired": "retired"},
    "retired": {"draft": "reopened"},
}
"""Which state may follow which, and what the history calls the step."""

LARGEST_PAGE = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One step in the life of an entry, with the entry as it was after it."""

    revision: int
    at: datetime
    by: str
    change: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of a list, and how many the whole list has."""

    entries: tuple[Entry, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """An entry on its way in from elsewhere; without an id it is a new one."""

    content: Content
    state: EntryState = "active"
    id: str | None = None
    names_group: bool = True  # False: an entry that is there stays in its group
    revision: int | None = None  # of the entry that it was read from; None: whatever it is now


@dataclass(frozen=True, slots=True)
class Put:
    """What became of an incoming entry."""

    entry: Entry
    change: str  # created | edited | unchanged
    was: EntryState | None = None  # the state of an edited entry before


class _NotKept(Exception):  # noqa: N818 - ends a transaction that was only tried
    """What was tried is rolled back."""


class EntryStore(ServedEntries):
    """The entries of all tenants, in every state; every method sees one tenant's only."""

    def __init__(
        self,
        db: Database,
        *,
        two_persons: bool = False,
        timezone: tzinfo = UTC,
        now: Callable[[], datetime] = now_utc,
    ) -> None:
        """With `two_persons` nothing is served that only its writer approved (`two_persons`)."""
        super().__init__(db, timezone=timezone, now=now)
        self._two_persons = two_persons

    async def create(
        self,
        tenant: str,
        content: Content,
        *,
        by: str,
        state: EntryState = "draft",
        entry_id: str | None = None,
    ) -> Entry:
        """A new entry.

        Raises:
            InvalidEntry: naming the field; DuplicatePhrasing if another active entry says the same.
        """
        async with self._changing(tenant) as connection:
            entry = self._made(tenant, checked(content), state=state, entry_id=entry_id or new_id())
            await refuse_duplicates(connection, entry)
            await write_new(connection, [entry], by=by)
            return entry

    async def edit(self, tenant: str, entry_id: str, content: Content, *, revision: int, by: str) -> Entry:
        """The entry with new content; `revision` is the one that the editor read.

        Raises:
            EntryNotFound, EntryConflict, InvalidEntry, DuplicatePhrasing.
        """
        async with self._changing(tenant) as connection:
            entry = await self._read(connection, tenant, entry_id)
            changed = self._edited(entry, checked(content), revision=revision)
            await refuse_duplicates(connection, changed)
            await write_edited(connection, changed, by=by)
            return changed

    async def change_state(
        self,
        tenant: str,
        entry_id: str,
        state: EntryState,
        *,
        revision: int,
        by: str,
        sources: tuple[Source, ...] | None = None,
    ) -> Entry:
        """The entry in a state that may follow its present one (`TRANSITIONS`).

        `sources` are the documents that it was read against, in the versions that the reader saw.

        Raises:
            EntryNotFound, EntryConflict, ForbiddenChange, DuplicatePhrasing, SecondPersonNeeded (to active).
        """
        async with self._changing(tenant) as connection:
            entry = await self._read(connection, tenant, entry_id)
            ways = TRANSITIONS[entry.state]
            if state not in ways:
                raise ForbiddenChange(entry_id, state=entry.state, change=state, allowed=tuple(ways))
            seen = entry.sources if sources is None else sources
            changed = self._next(entry, revision, state=state, sources=seen)
            if state == "active":
                if self._two_persons:
                    await refuse_own(connection, entry, by=by)
                await refuse_duplicates(connection, changed)
            await write_next(connection, changed)
            if sources is not None:
                await write_sources(connection, changed)
            await remember(connection, changed, by=by, change=ways[state])
            return changed

    async def put(
        self, tenant: str, incoming: Sequence[Incoming], *, by: str, keep: bool = True
    ) -> tuple[Put | CacheError, ...]:
        """Create or edit many in one transaction; each refused one is its error, the rest is kept.

        Without `keep` nothing is: it says what would become of them.
        """
        results: list[Put | CacheError] = []
        with suppress(_NotKept):
            async with self._changing(tenant) as connection:
                results = await self._put_all(connection, tenant, incoming, by=by)
                if not keep:
                    raise _NotKept
        return tuple(results)

    async def put_within(self, connection: AsyncConnection, tenant: str, one: Incoming, *, by: str) -> Put:
        """Create or edit one in a transaction that changes other things, too (`queries.changing`).

        Raises:
            CacheError: why it is refused; nothing was written then.
        """
        (result,) = await self._put_all(connection, tenant, [one], by=by)
        if isinstance(result, CacheError):
            raise result
        return result

    async def saying(self, connection: AsyncConnection, tenant: str, content: Content) -> Entry | None:
        """An active entry that gives all whom this is for this answer to each of these questions already."""
        claims = await Claims.read(connection, tenant, content.phrasings)
        for entry_id in sorted(claims.holders(content.phrasings)):
            entry = await self._read(connection, tenant, entry_id)
            if _says(entry, content):
                return entry
        return None

    async def _put_all(
        self, connection: AsyncConnection, tenant: str, incoming: Sequence[Incoming], *, by: str
    ) -> list[Put | CacheError]:
        """What became of each: a refused one changes nothing."""
        usable = [_usable(one) for one in incoming]
        ids = [one.id for one in usable if isinstance(one, Incoming) and one.id is not None]
        phrasings = [text for one in usable if isinstance(one, Incoming) for text in one.content.phrasings]
        arrivals = await Arrivals.read(connection, tenant, ids, phrasings, by=by)
        results: list[Put | CacheError] = []
        for one in usable:
            try:
                results.append(await self._put(arrivals, one) if isinstance(one, Incoming) else one)
            except CacheError as refused:
                results.append(refused)
        await arrivals.write()
        return results

    async def _put(self, arrivals: Arrivals, one: Incoming) -> Put:
        """An import says how an entry is to be, so it may set any state that its writer may."""
        entry_id = new_id() if one.id is None else arrivals.id_of(one.id)
        found = arrivals.there(entry_id)
        if one.id is None and one.state == "active":
            held = held_state(None, one.content, one.state) if self._two_persons else one.state
            found = arrivals.same(one.content, "active", held)
        if found is None:
            entry = self._made(arrivals.tenant, one.content, state=one.state, entry_id=entry_id)
            if one.id is None and one.state == "active":
                arrivals.refuse_withdrawn(entry)
            arrivals.create(entry)
            return Put(entry, "created")
        content = one.content if one.names_group else replace(one.content, group=found.group)
        state = held_state(found, content, one.state) if self._two_persons else one.state
        if content_of(found) == content and found.state == state:
            return Put(found, "unchanged")
        if one.revision not in (None, found.revision):
            raise OutdatedRow(found.id, state=found.state, found=found.revision)
        moved = replace(found, state=state)
        changed = self._edited(moved, content, revision=found.revision)
        await arrivals.edit(changed)
        return Put(changed, "edited", was=found.state)

    async def get(self, tenant: str, entry_id: str) -> Entry:
        """The entry.

        Raises:
            EntryNotFound: also if the entry is another tenant's.
        """
        async with self.db.connect() as connection:
            return await self._read(connection, tenant, entry_id)

    async def list(
        self, tenant: str, filters: queries.Filters = queries.NO_FILTERS, *, limit: int = 50, offset: int = 0
    ) -> Page:
        """The tenant's entries that pass the filters, the last changed first."""
        async with self.db.connect() as connection:
            ids, total = await queries.page(
                connection, tenant, filters, limit=min(limit, LARGEST_PAGE), offset=offset
            )
            rows = await connection.execute(queries.with_phrasings().where(entries.c.id.in_(ids)))
            found = {entry.id: entry for entry in entries_from_rows(rows.mappings())}
        return Page(tuple(found[entry_id] for entry_id in ids), total)

    async def choices(self, tenant: str) -> queries.Choices:
        """What the tenant's entries can be narrowed to."""
        async with self.db.connect() as connection:
            return await queries.choices(connection, tenant)

    async def walk(self, tenant: str, filters: queries.Filters = queries.NO_FILTERS) -> AsyncIterator[Page]:
        """All of the tenant's entries that pass the filters, a page at a time, each exactly once."""
        last = ""
        while True:
            async with self.db.connect() as connection:
                ids, total = await queries.next_page(connection, tenant, filters, last, limit=LARGEST_PAGE)
                rows = await connection.execute(queries.with_phrasings().where(entries.c.id.in_(ids)))
                found = entries_from_rows(rows.mappings())
            if not found:
                return
            yield Page(tuple(found), total)
            last = ids[-1]

    async def history(self, tenant: str, entry_id: str) -> tuple[Change, ...]:
        """Every change of the entry, the first one first.

        Raises:
            EntryNotFound: also if the entry is another tenant's.
        """
        async with self.db.connect() as connection:
            await self._read(connection, tenant, entry_id)
            rows = await connection.execute(
                select(entry_history).where(entry_history.c.entry_id == entry_id).order_by(entry_history.c.id)
            )
            found = rows.mappings().all()
        changes = [(row, entry_from_snapshot(row["snapshot"])) for row in found]
        return tuple(
            Change(entry.revision, entry.updated_at, row["by"], row["change"], entry)
            for row, entry in changes
        )

    def _changing(self, tenant: str) -> queries.Changing:
        return queries.changing(self.db, tenant)

    async def _read(self, connection: AsyncConnection, tenant: str, entry_id: str) -> Entry:
        statement = queries.with_phrasings().where(entries.c.id == entry_id, entries.c.tenant == tenant)
        found = entries_from_rows((await connection.execute(statement)).mappings())
        if not found:
            raise EntryNotFound(entry_id)
        return found[0]

    def _made(self, tenant: str, content: Content, *, state: EntryState, entry_id: str) -> Entry:
        """A new entry."""
        if self._two_persons:
            state = held_state(None, content, state)
        now = self._now()
        written = {name: getattr(content, name) for name in Content.__dataclass_fields__}
        return Entry(**written, id=entry_id, tenant=tenant, state=state, created_at=now, updated_at=now)

    def _edited(self, entry: Entry, content: Content, *, revision: int) -> Entry:
        """The next revision of an entry."""
        written = {name: getattr(content, name) for name in Content.__dataclass_fields__}
        state = held_state(entry, content, entry.state) if self._two_persons else entry.state
        return self._next(entry, revision, state=state, **written)

    def _next(self, entry: Entry, revision: int, **changed: Any) -> Entry:
        if entry.revision != revision:
            raise EntryConflict(entry.id, expected=revision, found=entry.revision)
        return replace(entry, **changed, revision=revision + 1, updated_at=self._now())


def _says(entry: Entry, content: Content) -> bool:
    """Whether whoever may read the content gets the same from the entry, on the same days."""
    asked, known = ({normalise(text) for text in one.phrasings} for one in (content, entry))
    one_shelf = entry.language == content.language and entry.group in ("", content.group)
    one_time = (entry.valid_from, entry.valid_until) == (content.valid_from, content.valid_until)
    return one_shelf and one_time and asked <= known and entry.answer.split() == content.answer.split()


def _usable(one: Incoming) -> Incoming | CacheError:
    """The entry with checked content, or why it can't be used."""
    try:
        return replace(one, content=checked(one.content))
    except CacheError as refused:
        return refused
