"""Counts of outcomes, read from the hours that they were added to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Integer, Table, column, func, select, values
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.figures.definitions import FIGURES, Base, Figure
from gateway.figures.periods import Period
from gateway.figures.rates import Rate
from gateway.recording.counts import faithfulness_bin, sums_of
from storage.schema import Moment, outcome_hours, outcomes

__all__ = ["Count", "View", "counts_before", "counts_of", "rate_of", "whole_hours"]

_ALIKE = ("language", "outcome", "reason", "tier", "unchecked", "faithfulness_bin")
_SUMS = ("n", "lookups", "drafted", "metered", "tokens_in", "tokens_out")
_SUMS_OF_SHARES = ("faithfulness", "drafted_ms")
_OF_ONE = (*_ALIKE[:-1], "faithfulness", "stage_ms", "tokens_in", "tokens_out")  # columns of an outcome


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
    query = select(*alike, *sums).where(
        outcome_hours.c.hour >= of_step.c.begins,
        outcome_hours.c.hour < of_step.c.ends,
        *_asked(outcome_hours, view),
    )
    return [_count(row) for row in (await connection.execute(query.group_by(*alike))).mappings()]


async def counts_before(connection: AsyncConnection, view: View) -> list[Count]:
    """Everything that was counted in the period before a view's, up to the same time of day.

    That time cuts an hour in two, whose counts would add what came later: there the outcomes are read.
    """
    before = view.before
    until = before.period.until.astimezone(UTC)
    hour = _whole(until)
    query = select(*(outcomes.c[name] for name in _OF_ONE)).where(
        outcomes.c.at >= hour, outcomes.c.at < until, *_asked(outcomes, before)
    )
    cut = [_count_of_one(row) for row in (await connection.execute(query)).mappings()]
    whole = replace(before, period=replace(before.period, until=hour))
    return [*await counts_of(connection, whole), *cut]


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


def _asked(table: Table, view: View) -> list[ColumnElement[bool]]:
    """Whose rows of a table are meant."""
    meant = {"tenant": view.tenant, "language": view.language}
    return [table.c[name] == value for name, value in meant.items() if value is not None]


def _whole(at: datetime) -> datetime:
    """The hour that a time is in: some zones are half an hour off the others."""
    return at - timedelta(minutes=at.minute, seconds=at.second, microseconds=at.microsecond)


def _count_of_one(outcome: Any) -> Count:
    alike = {name: outcome[name] for name in _ALIKE[:-1]} | {"tier": outcome["tier"] or ""}
    share = faithfulness_bin(outcome["faithfulness"])
    return Count(step=0, **alike, faithfulness_bin=share, **sums_of(outcome))


def _count(row: Any) -> Count:
    """Sums of whole numbers come as decimals from PostgreSQL."""
    return Count(**dict(row) | {name: int(row[name]) for name in _SUMS})
