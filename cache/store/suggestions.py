"""Phrasings that people used and no entry has yet: suggested to a reviewer, never served by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, RowMapping, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.errors import SuggestionDecided, SuggestionNotFound
from cache.reading.text import exact_key, normalise
from cache.store.content import LONGEST_PHRASING
from cache.store.queries import changing
from cache.store.rows import new_id
from storage.schema import suggestions as table
from storage.sql import Database

__all__ = ["Suggestion", "SuggestionPage", "SuggestionSource", "SuggestionState", "Suggestions"]

SuggestionSource = Literal["accepted", "ticket", "near_miss", "asked"]
SuggestionState = Literal["open", "accepted", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Words in which people asked what an entry may answer."""

    id: str
    tenant: str
    entry_id: str
    text: str
    language: str
    times: int  # how often it was asked, or accepted
    source: SuggestionSource
    state: SuggestionState
    by: str  # who suggested it; once decided, who decided
    at: datetime


@dataclass(frozen=True, slots=True)
class SuggestionPage:
    """Some suggestions, the most wanted first, and how many there are."""

    suggestions: tuple[Suggestion, ...]
    total: int


class Suggestions:
    """The suggestions of all tenants; every method sees one tenant's only."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, entry: Entry, text: str, *, source: SuggestionSource, by: str) -> Suggestion | None:
        """Count one more who asked so; None if the entry has this phrasing, or it can't be one."""
        async with changing(self._db, entry.tenant) as connection:
            return await self.add_within(connection, entry, text, source=source, by=by)

    async def add_within(
        self, connection: AsyncConnection, entry: Entry, text: str, *, source: SuggestionSource, by: str
    ) -> Suggestion | None:
        """The same in a transaction that changes other things, too (`queries.changing`)."""
        return await _keep(connection, entry, text, source=source, by=by, counted=None)

    async def note(
        self, entry: Entry, text: str, *, source: SuggestionSource, by: str, times: int
    ) -> Suggestion | None:
        """Keep what the record of past questions shows; noted again, it is not counted again."""
        async with changing(self._db, entry.tenant) as connection:
            return await _keep(connection, entry, text, source=source, by=by, counted=times)

    async def list(
        self,
        tenant: str,
        *,
        state: SuggestionState | None = None,
        entry_id: str | None = None,
        language: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> SuggestionPage:
        """A page of suggestions, those that were asked most often first."""
        wanted = {"state": state, "entry_id": entry_id, "language": language}
        conditions: list[ColumnElement[bool]] = [table.c.tenant == tenant]
        conditions += [table.c[name] == value for name, value in wanted.items() if value is not None]
        statement = select(table).where(*conditions).order_by(table.c.times.desc(), table.c.at, table.c.id)
        async with self._db.connect() as connection:
            rows = (await connection.execute(statement.limit(limit).offset(offset))).mappings().all()
            total = await connection.scalar(select(func.count()).select_from(table).where(*conditions))
        return SuggestionPage(tuple(map(_suggestion, rows)), total or 0)

    async def get(self, tenant: str, suggestion_id: str) -> Suggestion:
        """One suggestion.

        Raises:
            SuggestionNotFound: also if it is another tenant's.
        """
        async with self._db.connect() as connection:
            return await _read(connection, tenant, suggestion_id)

    async def decide(
        self, tenant: str, suggestion_id: str, state: Literal["accepted", "rejected"], *, by: str
    ) -> Suggestion:
        """Accept or reject; the same decision again changes nothing.

        Raises:
            SuggestionNotFound; SuggestionDecided if it was decided otherwise.
        """
        async with changing(self._db, tenant) as connection:
            found = await _read(connection, tenant, suggestion_id)
            if found.state == state:
                return found
            if found.state != "open":
                raise SuggestionDecided(suggestion_id, state=found.state, by=found.by)
            values = {"state": state, "by": by, "at": datetime.now(UTC)}
            await connection.execute(update(table).where(table.c.id == suggestion_id).values(values))
            return await _read(connection, tenant, suggestion_id)


async def _keep(
    connection: AsyncConnection,
    entry: Entry,
    text: str,
    *,
    source: SuggestionSource,
    by: str,
    counted: int | None,
) -> Suggestion | None:
    text = " ".join(text.split())
    normalised = normalise(text)
    known = {normalise(phrasing) for phrasing in entry.phrasings}
    if not normalised or normalised in known or len(text) > LONGEST_PHRASING:
        return None
    key = exact_key(normalised)
    same = table.c.entry_id == entry.id, table.c.exact_key == key
    row = (await connection.execute(select(table).where(*same))).mappings().first()
    if row is None:
        values = {
            "id": new_id(), "tenant": entry.tenant, "entry_id": entry.id, "text": text,
            "exact_key": key, "language": entry.language, "times": counted or 1, "source": source,
            "state": "open", "by": by, "at": datetime.now(UTC),
        }  # fmt: skip
        await connection.execute(insert(table), values)
        return _suggestion(values)
    changed = _again(_suggestion(row), source, counted)
    await connection.execute(update(table).where(*same).values(changed))
    return await _read(connection, entry.tenant, row["id"])


def _again(before: Suggestion, source: SuggestionSource, counted: int | None) -> dict[str, Any]:
    """What changes when the same words come again; that an asker accepted them outweighs the rest."""
    times = before.times + 1 if counted is None else max(before.times, counted)
    return {"times": times, "source": source if source == "accepted" else before.source}


async def _read(connection: AsyncConnection, tenant: str, suggestion_id: str) -> Suggestion:
    statement = select(table).where(table.c.id == suggestion_id, table.c.tenant == tenant)
    row = (await connection.execute(statement)).mappings().first()
    if row is None:
        raise SuggestionNotFound(suggestion_id)
    return _suggestion(row)


def _suggestion(row: RowMapping | dict[str, Any]) -> Suggestion:
    return Suggestion(**{name: row[name] for name in Suggestion.__dataclass_fields__})
