"""What tickets, audits and deliveries share: connections whose loss is told to the asker, rows and pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, RowMapping, Table, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import NotFound, StoreUnavailable
from storage.quick import Door
from storage.sql import DatabaseUnavailable
from storage.texts import storable

__all__ = ["Page", "page", "reading", "row_of", "writing"]

LARGEST_PAGE = 200
T = TypeVar("T")


@asynccontextmanager
async def reading(db: Door, what: str) -> AsyncIterator[AsyncConnection]:
    """A connection to read from. Raises `StoreUnavailable`, naming what can't be read."""
    try:
        async with db.connect() as connection:
            yield connection
    except DatabaseUnavailable as exc:
        raise StoreUnavailable(f"the {what} can't be read now") from exc


@asynccontextmanager
async def writing(db: Door, what: str) -> AsyncIterator[AsyncConnection]:
    """A transaction. Raises `StoreUnavailable`, naming what can't be changed."""
    try:
        async with db.begin() as connection:
            yield connection
    except DatabaseUnavailable as exc:
        raise StoreUnavailable(f"the {what} can't be changed now") from exc


async def row_of(
    connection: AsyncConnection, table: Table, id_: str, *, tenant: str, what: str, to_change: bool = False
) -> RowMapping:
    """A tenant's row by its id; `to_change` keeps others from changing it until the transaction ends.

    Raises:
        NotFound: also if it is another tenant's.
    """
    query = select(table).where(table.c.id == storable(id_), table.c.tenant == tenant)
    if to_change:
        query = query.with_for_update()  # SQLite has one writer at a time anyway
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        raise NotFound(f"there is no {what} {storable(id_)[:40]}")
    return row


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of what is kept, the oldest first; `next` continues after them, None at the end."""

    items: tuple[T, ...]
    next: str | None


async def page(
    connection: AsyncConnection,
    at: Column[Any],
    made: Callable[[RowMapping], T],
    wanted: Mapping[str, str | None],
    *,
    after: tuple[datetime, str] | None,
    limit: int,
) -> Page[T]:
    """What is made of the rows of a table that hold what is wanted (None: anything), by time and then id."""
    table = at.table
    query = select(table).filter_by(**{name: value for name, value in wanted.items() if value is not None})
    if after is not None:
        query = query.where(or_(at > after[0], and_(at == after[0], table.c.id > after[1])))
    limit = max(1, min(limit, LARGEST_PAGE))
    found = (await connection.execute(query.order_by(at, table.c.id).limit(limit + 1))).mappings().all()
    items = tuple(made(row) for row in found[:limit])
    return Page(items, found[limit - 1]["id"] if len(found) > limit else None)
