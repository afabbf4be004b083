"""Connections for what an asker waits for: soon, or not at all.

Who waits for a database that hangs without a word waits as long as its driver does, and then the next one
does. Here the first waits for some seconds; then the database is left alone for a short while, and whoever
asks is told so at once. Reading and writing each have a circuit: while tickets can't be kept, as another
process holds their lock, verified answers go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.circuit import Circuit
from storage.outages import DatabaseUnavailable

__all__ = ["Door", "Quick"]

# What an asker asks SQL takes milliseconds. A lookup that fails is a miss, a ticket that fails is an error:
# writing may wait for a batch of another writer.
READING_S = 2.0
WRITING_S = 4.0
FIRST_REST_S = 0.5  # how long a database that has hung is left alone: most stalls are over by then
REST_S = 5.0  # after each further try
READERS = 10
WRITERS = 5
TURN_S = 20.0  # for more askers at once than the database takes; that is load, and no hanging


log = structlog.get_logger("sekisho.storage")


Opening = Callable[[], AbstractAsyncContextManager[AsyncConnection]]


class Door(Protocol):
    """Where connections come from: a `Database`, or what is quick of it."""

    def connect(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """To read with."""
        ...

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A write transaction."""
        ...


class Quick:
    """A door through which nobody waits long."""

    def __init__(self, *, connect: Opening, begin: Opening, place: str) -> None:
        """`connect` and `begin` open what is passed on; `place` names the database in errors."""
        self._reading = _Way(connect, f"reading {place}", at_once=READERS, patience_s=READING_S)
        self._writing = _Way(begin, f"writing {place}", at_once=WRITERS, patience_s=WRITING_S)

    def connect(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection to read with, for statements of milliseconds.

        Raises:
            DatabaseUnavailable: if the store failed, or has not done all within `READING_S`.
        """
        return self._reading.passed()

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A write transaction of milliseconds.

        Raises:
            DatabaseUnavailable: if the store failed, or has not committed within `WRITING_S`.
        """
        return self._writing.passed()


class _Way:
    """Reading or writing: so many at once, so long, and not at all while the circuit is open."""

    def __init__(self, opening: Opening, what: str, *, at_once: int, patience_s: float) -> None:
        self._opening = opening
        self._what = what
        self._turns = asyncio.Semaphore(at_once)
        self._patience_s = patience_s
        self._circuit = Circuit(
            failure_threshold=1,
            first_rest_s=FIRST_REST_S,
            recovery_timeout=REST_S,
            expected_exception=DatabaseUnavailable,
            name=what,
        )

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[AsyncConnection]:
        async with self._turn():
            try:
                async with asyncio.timeout(self._patience_s), self._opening() as connection:
                    yield connection
            except TimeoutError:
                self._tell_of_hanging()
                with self._circuit:
                    raise self._left_alone() from None
            except Exception:
                self._answers()  # whatever it said
                raise
            self._answers()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._circuit.opened:
            raise self._left_alone()
        try:
            async with asyncio.timeout(TURN_S):
                await self._turns.acquire()
        except TimeoutError:
            raise DatabaseUnavailable(f"{self._what}: there is more load than the database takes") from None
        try:
            with self._circuit.trying() as may:
                if not may:
                    raise self._left_alone()
                yield
        finally:
            self._turns.release()

    def _tell_of_hanging(self) -> None:
        if self._circuit.closed:
            log.error("database hangs", what=self._what, waited_s=self._patience_s, left_alone_s=FIRST_REST_S)

    def _answers(self) -> None:
        if not self._circuit.closed:
            log.info("database answers again", what=self._what)
        self._circuit.reset()

    def _left_alone(self) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"{self._what} brought no answer within {self._patience_s:g} s and is left alone for a while"
        )
