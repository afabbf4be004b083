"""What only one transaction may do at a time, of all replicas together, and how long work lets others in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["in_turns", "one_at_a_time"]

T = TypeVar("T")

# A process that waits for SQLite's lock looks for it every 0.1 s, and nobody keeps a place for it.
TURN_S = 0.1

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


async def in_turns(parts: Iterable[T]) -> AsyncIterator[T]:
    """Parts of a long work, each of which is a transaction: after one, others have time to write."""
    for number, part in enumerate(parts):
        if number:
            await asyncio.sleep(TURN_S)
        yield part
