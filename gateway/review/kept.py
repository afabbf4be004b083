"""What tickets and audits share: connections whose loss is told to the asker, and pages, the oldest first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Column, RowMapping, Select, and_, or_
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import StoreUnavailable
from storage.sql import Database, DatabaseUnavailable

__all__ = ["page", "reading", "writing"]

LARGEST_PAGE = 200


@asynccontextmanager
async def reading(db: Database, what: str) -> AsyncIterator[AsyncConnection]:
    """A connection to read from. Raises `StoreUnavailable`, naming what can't be read."""
    try:
        async with db.connect() as connection:
            yield connection
    except DatabaseUnavailable as exc:
        raise StoreUnavailable(f"the {what} can't be read now") from exc


@asynccontextmanager
async def writing(db: Database, what: str) -> AsyncIterator[AsyncConnection]:
    """A transaction. Raises `StoreUnavailable`, naming what can't be changed."""
    try:
        async with db.begin() as connection:
            yield connection
    except DatabaseUnavailable as exc:
        raise StoreUnavailable(f"the {what} can't be changed now") from exc


async def page(
    connection: AsyncConnection,
    query: Select[Any],
    *,
    at: Column[Any],
    name: Column[Any],
    after: tuple[datetime, str] | None,
    limit: int,
) -> tuple[list[RowMapping], bool]:
    """Rows of a query by time and then name, from after a given one, and whether there are more."""
    if after is not None:
        query = query.where(or_(at > after[0], and_(at == after[0], name > after[1])))
    limit = max(1, min(limit, LARGEST_PAGE))
    rows = (await connection.execute(query.order_by(at, name).limit(limit + 1))).mappings().all()
    return list(rows[:limit]), len(rows) > limit
