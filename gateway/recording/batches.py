"""Rows that are written in the background, in batches: no asker waits for a statistic."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import monotonic
from typing import Any, Generic, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from storage.sql import DatabaseUnavailable

__all__ = ["Batches"]

BATCH = 500  # rows in one transaction
INTERVAL_S = 0.5  # what a kill -9 may cost the statistics; tickets and entries are never written here
CAPACITY = 50_000  # rows kept while SQL is away
TOLD_AGAIN_S = 60.0  # while rows wait
BROKEN_BY_A_ROW = (SQLAlchemyError, LookupError, TypeError, ValueError, AttributeError)  # not: SQL is away

R = TypeVar("R")


class Batches(Generic[R]):
    """Rows wait in memory for the next batch; what cannot be written in time is dropped and counted."""

    def __init__(
        self,
        name: str,
        write: Callable[[Sequence[R]], Awaitable[None]],
        *,
        on_lost: Callable[[int], None],
        at_once: int = BATCH,
        is_written: Callable[[R], Awaitable[bool]] | None = None,
    ) -> None:
        """`write` is given up to `at_once` rows and keeps all or none; it may raise `DatabaseUnavailable`.

        `is_written` says whether a row is there. It is asked after the database went away while a batch was
        written, which may have been committed although nobody heard of it.
        """
        self._name = name
        self._write = write
        self._on_lost = on_lost
        self._at_once = at_once
        self._is_written = is_written
        self._unheard: Sequence[R] = ()  # the batch that was under way when the database went away
        self._waiting: deque[R] = deque()
        self._flushing = asyncio.Lock()  # by the loop, and by who must read what was just added
        self._wait_told: float | None = None  # when, by the monotonic clock; None while none has to wait
        self._log = structlog.get_logger(f"sekisho.{name}")

    def add(self, row: R) -> None:
        """Keep a row for the next batch."""
        if len(self._waiting) >= CAPACITY:
            self._waiting.popleft()
            self._on_lost(1)
        self._waiting.append(row)

    async def run(self) -> None:
        """Write until cancelled, then write the rest; what can't be written then is lost."""
        try:
            while True:
                await asyncio.sleep(INTERVAL_S)
                await _to_its_end(self._flush_or_log())
        except asyncio.CancelledError:
            await self._flush_or_lose()
            raise

    async def flush(self) -> None:
        """Write everything that waits. Raises `DatabaseUnavailable`, and then nothing is forgotten."""
        await _to_its_end(self._flush())

    async def _flush(self) -> None:
        async with self._flushing:
            while self._waiting:
                await self._write_some()

    async def _write_some(self) -> None:
        if self._unheard:
            await self._ask_for_unheard()
            return
        batch = [self._waiting[place] for place in range(min(self._at_once, len(self._waiting)))]
        try:
            await self._write_all(batch)
        except BROKEN_BY_A_ROW:  # a row that can't be written must not take the others along
            for row in batch:
                await self._write_one(row)
        else:
            for row in batch:
                self._forget(row)

    async def _write_all(self, rows: Sequence[R]) -> None:
        try:
            await self._write(rows)
        except DatabaseUnavailable:
            self._unheard = rows
            raise

    async def _ask_for_unheard(self) -> None:
        """All of a batch was kept or none: its first row tells of the others."""
        if self._is_written and await self._is_written(self._unheard[0]):
            for row in self._unheard:
                self._forget(row)
        self._unheard = ()

    async def _write_one(self, row: R) -> None:
        try:
            await self._write_all([row])
        except BROKEN_BY_A_ROW as exc:  # tried again, it would hold up the rest for ever
            self._on_lost(1)
            self._log.error("row refused", error=type(exc).__name__)
        self._forget(row)

    def _forget(self, row: R) -> None:
        if self._waiting and self._waiting[0] is row:
            self._waiting.popleft()

    async def _flush_or_log(self) -> None:
        try:
            await self.flush()
        except DatabaseUnavailable as exc:
            if self._wait_told is None or monotonic() >= self._wait_told + TOLD_AGAIN_S:
                self._wait_told = monotonic()
                self._log.warning("rows wait", of=self._name, rows=len(self._waiting), error=str(exc))
        else:
            if self._wait_told is not None:
                self._wait_told = None
                self._log.info("rows are written again", of=self._name)

    async def _flush_or_lose(self) -> None:
        try:
            await self.flush()
        except DatabaseUnavailable as exc:
            self._on_lost(len(self._waiting))
            self._log.error("rows lost", of=self._name, rows=len(self._waiting), error=str(exc))


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do it, even where we are told to end: rows broken off in their commit would be written twice."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
