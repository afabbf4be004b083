"""The statements behind the store of entries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sqlalchemy import ColumnElement, Date, Select, bindparam, case, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import EntryKind, EntryState
from cache.reading.text import exact_key
from storage.locking import one_at_a_time
from storage.quick import Door
from storage.schema import entries, entry_phrasings, entry_sources

__all__ = [
    "SERVED",
    "SERVED_BY_ID",
    "SERVED_EXACT",
    "SERVED_REVISIONS",
    "WHOLE_SHELF",
    "Changing",
    "Choices",
    "Filters",
    "changing",
    "choices",
    "next_page",
    "page",
    "with_phrasings",
]

MOST_CHOICES = 500  # of a kind; nobody picks from more

Changing = AbstractAsyncContextManager[AsyncConnection]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a list of entries is narrowed to; None leaves a field open."""

    state: EntryState | None = None
    language: str | None = None
    kind: EntryKind | None = None
    group: str | None = None  # "" is what everybody may read
    owner: str | None = None
    search: str | None = None  # words that stand in a phrasing or in the answer
    document: str | None = None  # one that they came from
    review_before: date | None = None


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the entries of a tenant can be narrowed to."""

    languages: tuple[str, ...]
    groups: tuple[str, ...]
    owners: tuple[str, ...]


@asynccontextmanager
async def changing(db: Door, tenant: str) -> AsyncIterator[AsyncConnection]:
    """A write transaction in which nobody else changes this tenant's entries.

    SQLite has one writer at a time; PostgreSQL is asked for a lock, so that two
    replicas can't give the same phrasing to two entries.
    """
    async with db.begin() as connection:
        await one_at_a_time(connection, tenant, space=20260401)
        yield connection


def with_phrasings() -> Select[Any]:
    """Entries joined with their phrasings, in the order that `entries_from_rows` reads.

    Only the row of an entry's question has the entry itself: reading it again with each phrasing costs more
    than all the rest.
    """
    question = entry_phrasings.c.position == 0
    rest = [case((question, column)).label(column.name) for column in entries.c if column is not entries.c.id]
    return (
        select(entries.c.id, *rest, entry_phrasings.c.text.label("phrasing"))
        .join(entry_phrasings, entry_phrasings.c.entry_id == entries.c.id)
        .order_by(entries.c.id, entry_phrasings.c.position)
    )


def _on_shelf(statement: Select[Any], tenant: ColumnElement[str] = entries.c.tenant) -> Select[Any]:
    """Entries of all groups that are active and valid `today`."""
    today = bindparam("today", type_=Date())
    return statement.where(
        tenant == bindparam("tenant"),
        entries.c.language == bindparam("language"),
        entries.c.state == "active",
        or_(entries.c.valid_from.is_(None), entries.c.valid_from <= today),
        or_(entries.c.valid_until.is_(None), entries.c.valid_until >= today),
    )


def _served(statement: Select[Any], tenant: ColumnElement[str] = entries.c.tenant) -> Select[Any]:
    """Those of them that may be served to an asker of `group`: everybody's and their group's."""
    everybodys, the_groups = entries.c.group == "", entries.c.group == bindparam("group")
    return _on_shelf(statement, tenant).where(or_(everybodys, the_groups))


def _served_by_id(statement: Select[Any]) -> Select[Any]:
    """Those of them with given ids.

    An expression is in no index: from some ids on (15, or 9 for revisions) SQLite would take the one by
    tenant, and read the whole shelf.
    """
    among = entries.c.id.in_(bindparam("ids", expanding=True))
    return _served(statement, entries.c.tenant.concat("")).where(among)


def _exact() -> Select[Any]:
    met = entry_phrasings.alias("met")
    return (
        _served(with_phrasings())
        .join(met, met.c.entry_id == entries.c.id)
        .where(
            met.c.tenant == bindparam("tenant"),
            met.c.exact_key == bindparam("exact_key"),
            met.c.normalised == bindparam("normalised"),
        )
    )


# Built once: writing a statement costs more than running it, and these stand on the way of every question.
WHOLE_SHELF: Final = _on_shelf(with_phrasings())
SERVED: Final = _served(with_phrasings())
SERVED_BY_ID: Final = _served_by_id(with_phrasings())
SERVED_REVISIONS: Final = _served_by_id(select(entries.c.id, entries.c.revision).order_by(entries.c.id))
SERVED_EXACT: Final = _exact()


async def page(
    connection: AsyncConnection, tenant: str, filters: Filters, *, limit: int, offset: int
) -> tuple[Sequence[str], int]:
    """The ids of a page, and the length of the whole list."""
    conditions = [entries.c.tenant == tenant, *_conditions(filters)]
    ids = await connection.scalars(
        select(entries.c.id)
        .where(*conditions)
        .order_by(entries.c.updated_at.desc(), entries.c.id)
        .limit(limit)
        .offset(offset)
    )
    return ids.all(), await _total(connection, conditions)


async def choices(connection: AsyncConnection, tenant: str) -> Choices:
    """The languages, groups and owners that any entry of the tenant has."""
    found: dict[str, tuple[str, ...]] = {}
    for name in ("language", "group", "owner"):
        column = entries.c[name]
        values = select(column).where(entries.c.tenant == tenant).distinct().order_by(column)
        found[f"{name}s"] = tuple(await connection.scalars(values.limit(MOST_CHOICES)))
    return Choices(**found)


async def next_page(
    connection: AsyncConnection, tenant: str, filters: Filters, last: str, *, limit: int
) -> tuple[Sequence[str], int]:
    """The ids that follow `last` in the order of ids, and the length of the whole list."""
    conditions = [entries.c.tenant == tenant, *_conditions(filters)]
    statement = (
        select(entries.c.id).where(*conditions, entries.c.id > last).order_by(entries.c.id).limit(limit)
    )
    return (await connection.scalars(statement)).all(), await _total(connection, conditions)


async def _total(connection: AsyncConnection, conditions: Sequence[ColumnElement[bool]]) -> int:
    return await connection.scalar(select(func.count()).select_from(entries).where(*conditions)) or 0


def _conditions(filters: Filters) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for name in ("state", "language", "kind", "group", "owner"):
        wanted = getattr(filters, name)
        if wanted is not None:
            conditions.append(entries.c[name] == wanted)
    if filters.review_before is not None:
        conditions.append(entries.c.review_by < filters.review_before)
    if filters.document is not None:
        named = entry_sources.c.document_key == exact_key(filters.document)
        conditions.append(exists().where(entry_sources.c.entry_id == entries.c.id, named))
    if filters.search:
        in_phrasing = exists().where(
            entry_phrasings.c.entry_id == entries.c.id,
            entry_phrasings.c.text.icontains(filters.search, autoescape=True),
        )
        conditions.append(or_(in_phrasing, entries.c.answer.icontains(filters.search, autoescape=True)))
    return conditions
