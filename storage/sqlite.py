"""SQLite's thread, asked once per statement.

aiosqlite sends each call of a cursor (open, execute, fetch, close) to the connection's thread, and each
crossing costs about 0.1 ms. Here a statement and its first rows are one crossing.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import aiosqlite
from aiosqlite.context import Result
from anyio import to_thread

__all__ = ["CLOSE_S", "connect"]

CLOSE_S = 0.5  # whoever gave up waiting waits for no longer until their connection is closed
BUSY_WAIT_S = 0.02
FIRST_ROWS = 256  # more than any lookup gives; a longer result is fetched in further crossings


async def connect(
    database: str, *, patience_s: float, pragmas: Sequence[str], **options: Any
) -> aiosqlite.Connection:
    """Open the file and set it up; whoever holds a lock is waited for that long.

    Options are those of `sqlite3.connect`, with `check_same_thread=False`.
    """
    connection = _Connection(lambda: sqlite3.connect(database, timeout=patience_s, **options), FIRST_ROWS)
    # A gateway that is told to stop must not wait for a reader that nobody closed.
    connection._thread.daemon = True
    try:
        await connection
        for pragma in pragmas:
            await _obeyed(connection, pragma, patience_s)
    except BaseException:
        await connection.close()
        # The thread still has to report its end to this event loop, which may be about to close.
        await to_thread.run_sync(connection._thread.join)
        raise
    return connection


async def _obeyed(connection: aiosqlite.Connection, pragma: str, patience_s: float) -> None:
    """Run a pragma. Of two that give a new file its write-ahead log at once, SQLite makes neither wait."""
    given_up = time.monotonic() + patience_s
    while True:
        try:
            await connection.execute(pragma)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > given_up:
                raise
        await asyncio.sleep(BUSY_WAIT_S)


class _Cursor(aiosqlite.Cursor):
    """Holds the first rows. Touches SQLite from the event loop only while its thread is idle."""

    def __init__(self, connection: aiosqlite.Connection, cursor: sqlite3.Cursor) -> None:
        super().__init__(connection, cursor)
        self._first: deque[Any] = deque()
        self._settled = True  # nothing of this cursor is under way in the thread
        self._exhausted = True

    async def execute(self, sql: str, parameters: Iterable[Any] | None = None) -> _Cursor:
        """Run the statement and fetch its first rows."""
        rows = await self._execute(self._run, sql, () if parameters is None else parameters)
        self._first = deque(rows)
        self._exhausted = len(rows) < FIRST_ROWS
        return self

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]
        except asyncio.CancelledError:  # the thread works on
            self._settled = False
            raise

    def _run(self, sql: str, parameters: Any) -> list[Any]:
        self._cursor.execute(sql, parameters)
        return self._cursor.fetchmany(FIRST_ROWS) if self._cursor.description else []

    async def fetchone(self) -> Any:
        """The next row, or None."""
        if self._first:
            return self._first.popleft()
        return None if self._exhausted else await super().fetchone()

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Up to `size` further rows."""
        wanted = self.arraysize if size is None else size
        rows = [self._first.popleft() for _ in range(min(wanted, len(self._first)))]
        if rows or self._exhausted:
            return rows
        return list(await super().fetchmany(wanted))

    async def fetchall(self) -> list[Any]:
        """All further rows."""
        rows = list(self._first)
        self._first.clear()
        if not self._exhausted:
            rows.extend(await super().fetchall())
            self._exhausted = True
        return rows

    async def close(self) -> None:
        """Release the statement: at once, unless the thread still works on it."""
        if self._settled:
            self._cursor.close()
        else:
            await super().close()


class _Connection(aiosqlite.Connection):
    def cursor(self) -> Result[aiosqlite.Cursor]:
        """Make a cursor, which is no work for SQLite."""
        return Result(self._made())

    async def close(self) -> None:
        """Close after what is under way; where that takes long (a lock), the thread does it by itself."""
        closing = asyncio.ensure_future(super().close())
        await asyncio.wait({closing}, timeout=CLOSE_S)
        if closing.done():
            closing.result()

    async def _made(self) -> aiosqlite.Cursor:
        return _Cursor(self, self._conn.cursor())
