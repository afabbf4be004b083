"""Failed sign-ins, counted by name and by address, in SQL: all replicas refuse together."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, insert, or_, select

from gateway.database import writing
from gateway.errors import TooManyAttempts
from storage.locking import one_at_a_time
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

    async def begin(self, name: str, address: str) -> None:
        """Count an attempt as failed until it has succeeded, so that a burst of guesses is counted, too.

        Raises:
            TooManyAttempts: while a name or an address has failed too often.
        """
        now = datetime.now(UTC)
        row = {"at": now, "name_hash": _hash(name), "address": address[:64]}
        by_name = select(func.count()).where(table.c.name_hash == row["name_hash"])
        by_address = select(func.count()).where(table.c.address == row["address"])
        async with writing(self._db, "sign-ins") as connection:
            await one_at_a_time(connection, "sign-ins", space=20261124)
            # A clock that ran ahead and was set back must lock nobody out until that time has come.
            over = or_(table.c.at <= now - WINDOW, table.c.at > now + WINDOW)
            await connection.execute(delete(table).where(over))
            of_name = await connection.scalar(by_name) or 0
            of_address = await connection.scalar(by_address) or 0
            if of_name >= MOST_PER_NAME or of_address >= MOST_PER_ADDRESS:
                minutes = int(WINDOW.total_seconds() // 60)
                raise TooManyAttempts(f"too many failed sign-ins; try again in {minutes} minutes")
            await connection.execute(insert(table).values(row))

    async def succeeded(self, name: str) -> None:
        """The name's failures are forgiven; the address keeps those of other names."""
        async with writing(self._db, "sign-ins") as connection:
            await connection.execute(delete(table).where(table.c.name_hash == _hash(name)))


def _hash(name: str) -> str:
    return hashlib.sha256(name.strip().casefold().encode(errors="replace")).hexdigest()
