"""The record of outcomes, written to SQL in batches beside the way: no asker waits for a statistic."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy import insert

from storage.schema import outcomes
from storage.sql import Database, DatabaseUnavailable

__all__ = ["OutcomeLog", "OutcomeRow"]

BATCH = 500  # rows in one transaction
INTERVAL_S = 0.5  # what a kill -9 may cost the statistics; tickets and entries are never written here
CAPACITY = 50_000  # rows kept while SQL is away


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """One question's outcome, as counted."""

    tenant: str
    request_id: str
    question_hash: str
    question: str | None
    language: str
    outcome: str
    reason: str
    tier: str | None
    entry_id: str | None
    ticket_id: str | None
    faithfulness: float | None
    unchecked: bool
    gate_score: float | None
    stage_ms: Mapping[str, float]
    ms: float
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def values(self) -> dict[str, Any]:
        """The columns of its row; `dataclasses.asdict` would copy deep, on the way of every question."""
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def for_the_log(self) -> dict[str, Any]:
        """What is known, without what is empty."""
        return {name: value for name, value in self.values().items() if value is not None and name != "at"}


class OutcomeLog:
    """Rows wait in memory for the next batch; what cannot be written in time is dropped and counted."""

    def __init__(self, database: Database, *, on_lost: Callable[[int], None]) -> None:
        self._database = database
        self._on_lost = on_lost
        self._waiting: deque[OutcomeRow] = deque()
        self._log = structlog.get_logger("sekisho.outcomes")

    def add(self, row: OutcomeRow) -> None:
        """Keep a row for the next batch."""
        if len(self._waiting) >= CAPACITY:
            self._waiting.popleft()
            self._on_lost(1)
        self._waiting.append(row)

    async def run(self) -> None:
        """Write until cancelled, then write the rest."""
        try:
            while True:
                await asyncio.sleep(INTERVAL_S)
                await self._flush_or_log()
        finally:
            with suppress(DatabaseUnavailable):
                await self.flush()

    async def flush(self) -> None:
        """Write everything that waits. Raises `DatabaseUnavailable`, and then nothing is forgotten."""
        while self._waiting:
            batch = [self._waiting[place] for place in range(min(BATCH, len(self._waiting)))]
            async with self._database.begin() as connection:
                await connection.execute(insert(outcomes), [row.values() for row in batch])
            for row in batch:
                if self._waiting and self._waiting[0] is row:
                    self._waiting.popleft()

    async def _flush_or_log(self) -> None:
        try:
            await self.flush()
        except DatabaseUnavailable as exc:
            self._log.warning("outcomes wait", rows=len(self._waiting), error=str(exc))
