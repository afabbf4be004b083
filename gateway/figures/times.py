"""How long questions took: of the newest ones, whole and stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.figures.hours import View, whole_hours
from storage.schema import outcomes

__all__ = ["TIMED", "Latency", "Times", "times_of"]

TIMED = 5_000  # the newest questions of the period: enough for a 95th percentile, and what it is now


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of `n` questions."""

    n: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Times:
    """By outcome, and by stage of the way."""

    outcomes: Mapping[str, Latency]
    stages: Mapping[str, Latency]


async def times_of(connection: AsyncConnection, view: View) -> Times:
    """Times of the newest questions of a view."""
    query = select(outcomes.c.outcome, outcomes.c.ms, outcomes.c.stage_ms)
    query = query.where(*whole_hours(outcomes.c.at, view.period))
    if view.tenant is not None:
        query = query.where(outcomes.c.tenant == view.tenant)
    if view.language is not None:
        query = query.where(outcomes.c.language == view.language)
    by_outcome: dict[str, list[float]] = {}
    by_stage: dict[str, list[float]] = {}
    for outcome, ms, stages in await connection.execute(query.order_by(outcomes.c.at.desc()).limit(TIMED)):
        by_outcome.setdefault(outcome, []).append(ms)
        for stage, spent in stages.items():
            by_stage.setdefault(stage, []).append(spent)
    return Times(_latencies(by_outcome), _latencies(by_stage))


def _latencies(times: Mapping[str, list[float]]) -> dict[str, Latency]:
    return {
        name: Latency(len(ms), *np.percentile(ms, (50, 95)).tolist()) for name, ms in sorted(times.items())
    }
