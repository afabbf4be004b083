"""Counts of outcomes, read from the hours that they were added to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Integer, column, func, select, values
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.figures.definitions import FIGURES, Base, Figure
from gateway.figures.periods import Period
from gateway.figures.rates import Rate
from storage.schema import Moment, outcome_hours

__all__ = ["Count", "View", "counts_of", "rate_of", "whole_hours"]

_ALIKE = ("language", "outcome", "reason", "tier", "unchecked", "faithfulness_bin")
_SUMS = ("n", "lookups", "drafted", "metered", "tokens_in", "tokens_out")
_SUMS_OF_SHARES = ("faithfulness", "drafted_ms")


@dataclass(frozen=True, slots=True)
class View:
    """Whose outcomes, of which time. None is all tenants, or all languages."""

    tenant: str | None
    period: Period
    language: str | None = None

    @property
    def before(self) -> View:
        """The same view of the period before."""
        return View(self.tenant, self.period.before, self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many outcomes of one step of a period were alike, and sums over them."""

    step: int
    language: str
    outcome: str
    reason: str
    tier: str
    unchecked: bool
    faithfulness_bin: int
    n: int
    lookups: int
    faithfulness: float
    drafted: int
    drafted_ms: float
    metered: int
    tokens_in: int
    tokens_out: int

    @property
    def checked(self) -> int:
        """How many had a draft whose statements were judged."""
        return self.n if self.faithfulness_bin >= 0 else 0

    def of(self, base: Base) -> int:
        """How many of them a rate on this base divides by."""
        match base:
            case "questions":
                return self.n
            case "lookups":
                return self.lookups
            case "drafts":
                return self.n if self.unchecked else self.checked


async def counts_of(
    connection: AsyncConnection, view: View, steps: Sequence[datetime] | None = None
) -> list[Count]:
    """Everything that was counted in a view, by the steps of its period (or without them)."""
    begins = [at.astimezone(UTC) for at in (steps if steps is not None else [view.period.since])]
    hours = [_whole(begin) for begin in begins]  # an hour belongs to one step
    ends = [*hours[1:], view.period.until.astimezone(UTC)]
    rows = [(place, begin, end) for place, (begin, end) in enumerate(zip(hours, ends, strict=True))]
    of_step = (
        values(column("step", Integer), column("begins", Moment), column("ends", Moment), name="steps")
        .data(rows)
        .cte("steps")
    )
    alike = [of_step.c.step, *(outcome_hours.c[name] for name in _ALIKE)]
    sums = [func.sum(outcome_hours.c[name]).label(name) for name in (*_SUMS, *_SUMS_OF_SHARES)]
    meant: list[ColumnElement[bool]] = [
        outcome_hours.c.hour >= of_step.c.begins,
        outcome_hours.c.hour < of_step.c.ends,
    ]
    if view.tenant is not None:
        meant.append(outcome_hours.c.tenant == view.tenant)
    if view.language is not None:
        meant.append(outcome_hours.c.language == view.language)
    query = select(*alike, *sums).where(*meant).group_by(*alike)
    return [_count(row) for row in (await connection.execute(query)).mappings()]


def rate_of(figure: Figure | str, counts: Iterable[Count]) -> Rate:
    """A figure over counts."""
    meant = FIGURES[figure] if isinstance(figure, str) else figure
    counted = base = 0
    for one in counts:
        base += one.of(meant.base)
        counted += one.n if meant.counted.include(one) else 0
    return Rate(counted, base)


def whole_hours(at: Any, period: Period) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The condition that a time is in a period, as the hours of its counts are."""
    return at >= _whole(period.since.astimezone(UTC)), at < period.until.astimezone(UTC)


def _whole(at: datetime) -> datetime:
    """The hour that a time is in: some zones are half an hour off the others."""
    return at - timedelta(minutes=at.minute, seconds=at.second, microseconds=at.microsecond)


def _count(row: Any) -> Count:
    """Sums of whole numbers come as decimals from PostgreSQL."""
    return Count(**dict(row) | {name: int(row[name]) for name in _SUMS})
