"""Failed sign-ins, counted by name and by address, in SQL: all replicas refuse together."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, insert, select

from gateway.database import reading, writing
from gateway.errors import TooManyAttempts
from storage.schema import sign_in_failures as table
from storage.sql import Database

__all__ = ["Attempts"]

WINDOW = timedelta(minutes=15)
MOST_PER_NAME = 5
MOST_PER_ADDRESS = 30  # an office shares one


class Attempts:
    """Who failed to sign in lately."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def refuse_if_too_many(self, name: str, address: str) -> None:
        """Raises `TooManyAttempts` while a name or an address has failed too often."""
        recent = table.c.at > datetime.now(UTC) - WINDOW
        by_name = select(func.count()).where(recent, table.c.name_hash == _hash(name))
        by_address = select(func.count()).where(recent, table.c.address == address[:64])
        async with reading(self._db, "sign-ins") as connection:
            of_name = await connection.scalar(by_name) or 0
            of_address = await connection.scalar(by_address) or 0
        if of_name >= MOST_PER_NAME or of_address >= MOST_PER_ADDRESS:
            minutes = int(WINDOW.total_seconds() // 60)
            raise TooManyAttempts(f"too many failed sign-ins; try again in {minutes} minutes")

    async def failed(self, name: str, address: str) -> None:
        """Count a failure, and forget those that no longer count."""
        now = datetime.now(UTC)
        row = {"at": now, "name_hash": _hash(name), "address": address[:64]}
        async with writing(self._db, "sign-ins") as connection:
            await connection.execute(delete(table).where(table.c.at <= now - WINDOW))
            await connection.execute(insert(table).values(row))

    async def succeeded(self, name: str) -> None:
        """The name's failures are forgiven; the address keeps its own, it may be guessing other names."""
        async with writing(self._db, "sign-ins") as connection:
            await connection.execute(delete(table).where(table.c.name_hash == _hash(name)))


def _hash(name: str) -> str:
    return hashlib.sha256(name.strip().casefold().encode(errors="replace")).hexdigest()
