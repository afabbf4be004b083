"""Whether SQL takes changes at the moment, tried by changing a value of ours: reading may go on without."""

from __future__ import annotations

import asyncio
from time import monotonic

from storage.remembered import remember
from storage.sql import Database, DatabaseUnavailable

__all__ = ["TriedWrites"]

AGAIN_S = 2.0  # however often strangers ask: each try is a commit
NAME = "gateway.written"


class TriedWrites:
    """Commits a change when asked whether that can be done; what was found is true for `AGAIN_S`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._trying = asyncio.Lock()
        self._until = 0.0  # seconds of the monotonic clock
        self._failure: DatabaseUnavailable | None = None

    async def check(self) -> None:
        """Raises `DatabaseUnavailable` if nothing can be kept now (a full disk, a read-only server)."""
        async with self._trying:
            if monotonic() >= self._until:
                self._failure = await self._tried()
                self._until = monotonic() + AGAIN_S
        if self._failure is not None:
            raise self._failure

    async def _tried(self) -> DatabaseUnavailable | None:
        try:
            async with self._db.quick.begin() as connection:
                await remember(connection, {NAME: True})
        except DatabaseUnavailable as exc:
            return exc
        return None
