"""Counts of outcomes, read from the hours that they were added to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.figures.definitions import FIGURES, Base, Figure
from gateway.figures.periods import Period
from gateway.figures.rates import Rate
from storage.schema import outcome_bins, outcome_hours

__all__ = ["Count", "View", "counts_of", "hours_of", "measured_of", "rate_of"]

_SUMS = (
    "n", "lookups", "checked", "supported", "faithfulness", "ms", "drafted", "drafted_ms", "metered",
    "tokens_in", "tokens_out",
)  # fmt: skip
_ALIKE = ("language", "outcome", "reason", "tier", "unchecked")


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
    """How many outcomes were alike, and sums over them."""

    hour: datetime | None = None
    language: str
    outcome: str
    reason: str
    tier: str
    unchecked: bool
    n: int
    lookups: int
    checked: int
    supported: int = 0
    faithfulness: float = 0.0
    ms: float = 0.0
    drafted: int = 0
    drafted_ms: float = 0.0
    metered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def of(self, base: Base) -> int:
        """How many of them a rate on this base divides by."""
        match base:
            case "questions":
                return self.n
            case "lookups":
                return self.lookups
            case "drafts":
                return self.checked + (self.n if self.unchecked else 0)


async def counts_of(connection: AsyncConnection, view: View) -> list[Count]:
    """Everything that was counted in a view."""
    columns = [outcome_hours.c[name] for name in _ALIKE]
    sums = [func.sum(outcome_hours.c[name]).label(name) for name in _SUMS]
    query = _within(select(*columns, *sums), outcome_hours, view).group_by(*columns)
    return [Count(**_plain(row)) for row in (await connection.execute(query)).mappings()]


async def hours_of(connection: AsyncConnection, view: View) -> list[Count]:
    """The same hour by hour, without the sums that no chart shows."""
    columns = [outcome_hours.c[name] for name in ("hour", *_ALIKE[1:])]
    sums = [func.sum(outcome_hours.c[name]).label(name) for name in ("n", "lookups", "checked")]
    query = _within(select(*columns, *sums), outcome_hours, view).group_by(*columns)
    return [Count(language="", **_plain(row)) for row in (await connection.execute(query)).mappings()]


async def measured_of(connection: AsyncConnection, view: View) -> dict[str, dict[int, int]]:
    """The distributions of a view: measure, bin, count."""
    columns = (outcome_bins.c.measure, outcome_bins.c.bin)
    query = _within(select(*columns, func.sum(outcome_bins.c.n)), outcome_bins, view).group_by(*columns)
    found: dict[str, dict[int, int]] = {}
    for measure, place, n in await connection.execute(query):
        found.setdefault(measure, {})[place] = int(n)
    return found


def rate_of(figure: Figure | str, counts: Iterable[Count]) -> Rate:
    """A figure over counts."""
    meant = FIGURES[figure] if isinstance(figure, str) else figure
    counted = base = 0
    for one in counts:
        base += one.of(meant.base)
        counted += one.n if meant.counted.include(one) else 0
    return Rate(counted, base)


def _within(query: Select[Any], table: Table, view: View) -> Select[Any]:
    since = view.period.since.astimezone(UTC)
    meant: list[ColumnElement[bool]] = [
        table.c.hour >= since.replace(minute=0, second=0, microsecond=0),
        table.c.hour < view.period.until.astimezone(UTC),
    ]
    if view.tenant is not None:
        meant.append(table.c.tenant == view.tenant)
    if view.language is not None:
        meant.append(table.c.language == view.language)
    return query.where(*meant)


def _plain(row: Any) -> dict[str, Any]:
    """Sums of integers come as decimals from PostgreSQL."""
    return {
        name: int(value) if name in _SUMS and not isinstance(value, float) else value
        for name, value in row.items()
    }
