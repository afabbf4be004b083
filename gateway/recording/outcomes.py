"""The record of outcomes, written to SQL in batches in the background: no asker waits for a statistic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select

from gateway.recording.batches import Batches
from gateway.recording.counts import count
from storage.schema import outcomes
from storage.sql import Database

__all__ = ["OutcomeLog", "OutcomeRow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """One question's outcome, as counted."""

    tenant: str
    group: str = ""
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
    gate_label: str | None = None
    gate_rule: str | None = None
    shadow: Sequence[Mapping[str, str | None]] | None = None  # rule, label, topic
    tokens_in: int | None = None  # of the draft
    tokens_out: int | None = None
    asker_key: str | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def values(self) -> dict[str, Any]:
        """The columns of its row; `dataclasses.asdict` would copy deep, on the way of every question."""
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def for_the_log(self, *, texts: bool) -> dict[str, Any]:
        """What is known, without what is empty, and without the question unless `texts` are wanted."""
        left_out = {"at", "asker_key"} if texts else {"at", "asker_key", "question"}
        return {
            name: value for name, value in self.values().items() if value is not None and name not in left_out
        }


class OutcomeLog(Batches[OutcomeRow]):
    """Takes a row for every question, and adds it to the counts that figures are read from."""

    def __init__(self, database: Database, *, on_lost: Callable[[int], None]) -> None:
        super().__init__("outcomes", self._insert, on_lost=on_lost, is_written=self._is_there)
        self._database = database

    async def _insert(self, rows: Sequence[OutcomeRow]) -> None:
        async with self._database.quick.begin() as connection:
            values = [row.values() for row in rows]
            await connection.execute(insert(outcomes), values)
            await count(connection, values)

    async def _is_there(self, row: OutcomeRow) -> bool:
        same = {name: getattr(row, name) for name in ("request_id", "at", "question_hash")}
        async with self._database.quick.connect() as connection:
            return await connection.scalar(select(outcomes.c.id).filter_by(**same).limit(1)) is not None
