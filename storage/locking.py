"""What only one transaction may do at a time, of all replicas together."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["one_at_a_time"]

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, :space))")


async def one_at_a_time(connection: AsyncConnection, name: str, *, space: int) -> None:
    """Wait for every other transaction that asked for this name, and hold up those that come later.

    SQLite has one writer at a time anyway.

    Args:
        connection: a write transaction.
        space: a number of the caller's own, so that equal names of different things don't meet.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(_LOCK, {"name": name, "space": space})
