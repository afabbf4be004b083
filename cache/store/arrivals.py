"""Entries that come in together: what they may meet is read at once, and what is new is written at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry, EntryState
from cache.errors import AnswerWithdrawn
from cache.store.claims import KEYS_AT_ONCE, Claims, could_meet
from cache.store.content import Content, content_of
from cache.store.queries import with_phrasings
from cache.store.rows import entries_from_rows, is_name, wanted_ids
from cache.store.writing import write_edited, write_new
from storage.parts import in_parts
from storage.schema import entries

__all__ = ["Arrivals"]


class Arrivals:
    """The entries of one transaction, beside those that were there before it."""

    def __init__(self, connection: AsyncConnection, tenant: str, claims: Claims, *, by: str) -> None:
        self._claims = claims
        self._connection = connection
        self.tenant = tenant
        self._by = by
        self._owners: dict[str, str] = {}  # of ids that are taken
        self._there: dict[str, Entry] = {}  # this tenant's
        self._new: dict[str, Entry] = {}  # not written yet

    @classmethod
    async def read(
        cls,
        connection: AsyncConnection,
        tenant: str,
        names: Sequence[str],
        phrasings: Sequence[str],
        *,
        by: str,
    ) -> Self:
        """For entries that want to be called so and that say this."""
        claims = await Claims.read(connection, tenant, phrasings)
        arrivals = cls(connection, tenant, claims, by=by)
        wanted = {one for name in names if is_name(name) for one in wanted_ids(tenant, name)}
        ids = sorted(wanted | claims.holders(phrasings) | claims.unserved(phrasings))
        for some in in_parts(ids, KEYS_AT_ONCE):
            owners = select(entries.c.id, entries.c.tenant).where(entries.c.id.in_(some))
            arrivals._owners |= {row.id: row.tenant for row in await connection.execute(owners)}
        own = [entry_id for entry_id, owner in arrivals._owners.items() if owner == tenant]
        for some in in_parts(own, KEYS_AT_ONCE):
            mine = with_phrasings().where(entries.c.id.in_(some))
            found = entries_from_rows((await connection.execute(mine)).mappings())
            arrivals._there |= {entry.id: entry for entry in found}
        return arrivals

    def id_of(self, name: str) -> str:
        """What an entry of that name is called: the name, unless another tenant has taken it.

        Raises:
            InvalidEntry: if it is no name.
        """
        wanted, second = wanted_ids(self.tenant, name)
        return wanted if self._owners.get(wanted, self.tenant) == self.tenant else second

    def there(self, entry_id: str) -> Entry | None:
        """The entry as it is by now."""
        return self._there.get(entry_id)

    def same(self, content: Content, *states: EntryState) -> Entry | None:
        """An entry that says just this, in the first of these states that one is in."""
        ids = self._claims.holders(content.phrasings) | self._claims.unserved(content.phrasings)
        there = [entry for entry in map(self.there, sorted(ids)) if entry and content_of(entry) == content]
        return next((entry for state in states for entry in there if entry.state == state), None)

    def refuse_withdrawn(self, entry: Entry) -> None:
        """Refuse what people took out of service: a sheet that comes in again must not bring it back.

        Raises:
            AnswerWithdrawn: if a paused, stale or retired entry gives this answer to one of its questions.
        """
        answer = entry.answer.split()
        for other_id in sorted(self._claims.unserved(entry.phrasings)):
            other = self.there(other_id)
            if other is None or other.state not in ("paused", "stale", "retired"):
                continue  # this import has brought it back by its id
            if other.answer.split() == answer and could_meet(entry, other):
                raise AnswerWithdrawn(other.id, state=other.state, changed=other.updated_at.date())

    def create(self, entry: Entry) -> None:
        """Take in a new entry; it is written by the next `write`.

        Raises:
            DuplicatePhrasing: if an active entry, present or come in with it, says the same.
        """
        self._claims.take(entry)
        self._new[entry.id] = self._there[entry.id] = entry

    async def edit(self, changed: Entry) -> None:
        """Write the next revision of an entry that is there.

        Raises:
            DuplicatePhrasing, EntryConflict: nothing was written then.
        """
        self._claims.take(changed)
        if changed.id in self._new:
            await self.write()
        await write_edited(self._connection, changed, by=self._by)
        self._there[changed.id] = changed

    async def write(self) -> None:
        """Write what is new."""
        await write_new(self._connection, [*self._new.values()], by=self._by)
        self._new.clear()
