"""The entries that are served today, as lookups and calibration read them. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any

from sqlalchemy import select

from cache.entries import Entry
from cache.reading.text import exact_key, normalise
from cache.store import queries
from cache.store.known import KnownEntries
from cache.store.rows import entries_from_rows
from storage.schema import entries, entry_phrasings
from storage.sql import Database

__all__ = ["Phrased", "ServedEntries", "now_utc"]


def now_utc() -> datetime:
    """The moment it is."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Phrased:
    """An entry and the phrasing of it that was met."""

    entry: Entry
    phrasing: str


class ServedEntries:
    """What askers may be answered with, of all tenants; every method sees one tenant's only."""

    def __init__(
        self, db: Database, *, timezone: tzinfo = UTC, now: Callable[[], datetime] = now_utc
    ) -> None:
        """An entry's first and last day are days of `timezone`."""
        self.db = db
        self._timezone = timezone
        self._now = now
        self._known = KnownEntries()

    async def find_exact(self, tenant: str, text: str, language: str, *, group: str = "") -> Phrased | None:
        """The entry with this very question among its phrasings, as served to a group, in one SELECT."""
        normalised = normalise(text)
        if not normalised:
            return None
        values = self._shelf(tenant, language) | {
            "group": group,
            "exact_key": exact_key(normalised),
            "normalised": normalised,
        }
        async with self.db.quick.connect() as connection:
            found = entries_from_rows((await connection.execute(queries.SERVED_EXACT, values)).mappings())
        if not found:
            return None
        same = (phrasing for phrasing in found[0].phrasings if normalise(phrasing) == normalised)
        return Phrased(found[0], next(same))

    async def served(
        self, tenant: str, language: str, ids: Sequence[str] | None = None, *, group: str = ""
    ) -> tuple[Entry, ...]:
        """The entries that a group may read today, all or those with the given ids.

        An asker without a group (`""`) sees what is everybody's, another one that and their group's.
        """
        values = self._shelf(tenant, language) | {"group": group}
        if ids is not None:
            async with self.db.quick.connect() as connection:
                return await self._known.served(connection, values | {"ids": list(ids)})
        async with self.db.connect() as connection:
            return tuple(entries_from_rows((await connection.execute(queries.SERVED, values)).mappings()))

    async def whole_shelf(self, tenant: str, language: str) -> tuple[Entry, ...]:
        """The entries of all groups that are served today: to calibrate on, never to answer from."""
        values = self._shelf(tenant, language)
        async with self.db.connect() as connection:
            return tuple(
                entries_from_rows((await connection.execute(queries.WHOLE_SHELF, values)).mappings())
            )

    @property
    def today(self) -> date:
        """The day by which entries are valid: that of the store's time zone."""
        return self._now().astimezone(self._timezone).date()

    def _shelf(self, tenant: str, language: str) -> dict[str, Any]:
        return {"tenant": tenant, "language": language, "today": self.today}

    async def questions(self, tenant: str, *, limit: int) -> tuple[str, ...]:
        """Phrasings of active entries that everybody may read: each entry's question first, then others."""
        statement = (
            select(entry_phrasings.c.text)
            .join(entries, entries.c.id == entry_phrasings.c.entry_id)
            .where(entries.c.tenant == tenant, entries.c.group == "", entries.c.state == "active")
            .order_by(entry_phrasings.c.position, entry_phrasings.c.id)
            .limit(limit)
        )
        async with self.db.connect() as connection:
            return tuple(await connection.scalars(statement))

    async def shelves(self) -> tuple[tuple[str, str], ...]:
        """Every tenant and language that has an active entry."""
        statement = select(entries.c.tenant, entries.c.language).where(entries.c.state == "active").distinct()
        async with self.db.connect() as connection:
            rows = await connection.execute(statement.order_by(entries.c.tenant, entries.c.language))
            return tuple((tenant, language) for tenant, language in rows)
