"""Which keys a database is sealed with, and how its texts change from one key to another.

The names of the keys in use stand in the table `settings`: a gateway without one of them does not start,
since it could neither show nor find what was sealed with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from sqlalchemy import Column, Table, bindparam, delete, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.locking import one_at_a_time
from storage.schema import metadata, settings
from storage.schema.base import SealedJson, SealedText
from storage.sealing import Seal
from storage.sql import Database

__all__ = ["UnknownKeys", "check_keys", "reseal", "sealed_columns"]

AT_ONCE = 500  # rows in one transaction: nobody who writes waits long
_NAME = "storage.keys"


class UnknownKeys(Exception):  # noqa: N818 - errors are named as facts
    """The database is sealed with keys that are not configured."""


async def check_keys(database: Database, seal: Seal | None) -> None:
    """Refuse a database whose keys are missing, and remember the one that seals from now on.

    Raises:
        UnknownKeys: naming them.
    """
    async with database.begin() as connection:
        await _alone(connection)
        used = await _used(connection)
        if missing := used - (seal.keys if seal else frozenset()):
            raise UnknownKeys(
                f"texts are sealed with the key {', '.join(sorted(missing))}, which is not configured: "
                "give it as storage.encryption_key, or among storage.former_encryption_keys"
            )
        if seal and seal.key and seal.key not in used:
            await _remember(connection, used | {seal.key})


async def reseal(database: Database, seal: Seal) -> AsyncIterator[tuple[str, int]]:
    """Write every text again under the present key, or open where there is none; tells table and rows.

    What is written meanwhile is written under the present key anyway. A second run does no harm.
    """
    for table, columns in sealed_columns().items():
        rows = 0
        async for some in _rewritten(database, table, columns):
            rows += some
        yield table.name, rows
    async with database.begin() as connection:
        await _alone(connection)
        await _remember(connection, frozenset({seal.key} if seal.key else ()))
    await database.purge()


def sealed_columns() -> dict[Table, list[Column[object]]]:
    """The columns that hold what askers wrote."""
    found = {
        table: [column for column in table.columns if isinstance(column.type, SealedText | SealedJson)]
        for table in metadata.sorted_tables
    }
    return {table: columns for table, columns in found.items() if columns}


async def _rewritten(database: Database, table: Table, columns: list[Column[object]]) -> AsyncIterator[int]:
    keys = list(table.primary_key.columns)
    query = select(*keys, *columns).order_by(*keys).limit(AT_ONCE).with_for_update()
    this = [key == bindparam(f"this_{key.name}") for key in keys]
    write = (
        update(table)
        .where(*this)
        .values({column.name: bindparam(f"new_{column.name}") for column in columns})
    )
    after: tuple[object, ...] | None = None
    while True:
        async with database.begin() as connection:
            some = query if after is None else query.where(tuple_(*keys) > after)
            rows = (await connection.execute(some)).mappings().all()
            if not rows:
                return
            rewritten = [
                {f"this_{key.name}": row[key] for key in keys}
                | {f"new_{column.name}": row[column] for column in columns}
                for row in rows
            ]
            await connection.execute(write, rewritten)
        after = tuple(rows[-1][key] for key in keys)
        yield len(rows)


async def _alone(connection: AsyncConnection) -> None:
    """Gateways that start together with a new key remember it one after the other."""
    await one_at_a_time(connection, _NAME, space=20261128)


async def _used(connection: AsyncConnection) -> frozenset[str]:
    return frozenset(await connection.scalar(select(settings.c.value).where(settings.c.name == _NAME)) or ())


async def _remember(connection: AsyncConnection, keys: frozenset[str]) -> None:
    await connection.execute(delete(settings).where(settings.c.name == _NAME))
    if keys:
        row = {"name": _NAME, "value": sorted(keys), "updated_at": datetime.now(UTC)}
        await connection.execute(insert(settings), row)
