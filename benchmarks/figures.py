"""What figures cost where many questions were asked.

    python -m benchmarks.figures [--outcomes 1000000] [--url postgresql://…]

Outcomes of 90 days in three languages are written as the gateway writes them. Then, for periods of 1 to 90
days: every figure at once, the same computed from the raw outcomes by one GROUP BY (what it would cost
without counts by the hour), and the first and the last page of the questions behind a common and a rare one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import func, insert, select

from gateway.figures.hours import View
from gateway.figures.periods import last_days
from gateway.figures.questions import Behind
from gateway.figures.report import Figures
from gateway.recording.counts import count
from storage.schema import outcomes
from storage.sql import Database

DAYS = 90
CHUNK = 20_000
REPEATS = 5
NOW = datetime(2026, 3, 31, 15, 30, tzinfo=UTC)
KINDS: list[tuple[float, str, str, str | None, tuple[str, ...]]] = [
    (0.35, "ground_truth", "verified_exact", "exact", ("gate", "cache")),
    (0.25, "confirmed_answer", "verified_vector", "vector", ("gate", "cache")),
    (0.2, "rag", "supported", None, ("gate", "cache", "rag", "faithfulness")),
    (0.05, "withheld", "unsupported_statement", None, ("gate", "cache", "rag", "faithfulness")),
    (0.05, "escalated", "nothing_relevant", None, ("gate", "cache", "rag")),
    (0.02, "escalated", "gate_unsure", None, ("gate", "cache")),
    (0.0795, "refused", "may", None, ("gate",)),
    (0.0005, "refused", "must_not:crime", None, ("gate",)),
]


class NoAudits:
    """The bound of wrong answers is read from the counts of audits, which do not grow with the questions."""

    async def reports(self, *, tenant: str | None, topics: bool) -> tuple[()]:
        """No shelf was audited."""
        return ()


def rows(n: int) -> list[dict[str, Any]]:
    """Outcomes in the order of time, busy by day and quiet by night."""
    chance = random.Random(7)
    kinds = chance.choices(KINDS, [kind[0] for kind in KINDS], k=n)
    begin, step = NOW - timedelta(days=DAYS), timedelta(days=DAYS) / n
    return [_row(chance, begin + step * place, place, kind) for place, kind in enumerate(kinds)]


def _row(chance: random.Random, at: datetime, place: int, kind: tuple[Any, ...]) -> dict[str, Any]:
    _, outcome, reason, tier, stages = kind
    stage_ms = {stage: round(chance.lognormvariate(2, 1), 3) for stage in stages}
    return {
        "at": at,
        "tenant": "default",
        "group": "",
        "request_id": f"r-{place}",
        "question_hash": "0" * 64,
        "language": chance.choice(("en", "ja", "ja", "zh")),
        "outcome": outcome,
        "reason": reason,
        "tier": tier,
        "entry_id": "e-1" if tier else None,
        "faithfulness": chance.choice((0.5, 1.0, 1.0)) if "faithfulness" in stages else None,
        "unchecked": False,
        "gate_score": 0.9,
        "stage_ms": stage_ms,
        "ms": sum(stage_ms.values()),
        "tokens_in": 900 if "rag" in stages else None,
        "tokens_out": 90 if "rag" in stages else None,
    }


async def written(database: Database, made: list[dict[str, Any]]) -> tuple[float, float]:
    """Seconds for the outcomes themselves, and for counting them."""
    plain = counting = 0.0
    for begin in range(0, len(made), CHUNK):
        chunk = made[begin : begin + CHUNK]
        async with database.begin() as connection:
            started = time.perf_counter()
            await connection.execute(insert(outcomes), chunk)
            plain += time.perf_counter() - started
            started = time.perf_counter()
            await count(connection, chunk)
            counting += time.perf_counter() - started
    return plain, counting


async def milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    """The median of some runs."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        await work()
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)[REPEATS // 2]


async def raw(database: Database, view: View) -> None:
    """What counts by the hour spare: the same groups from the outcomes."""
    columns = [outcomes.c[name] for name in ("language", "outcome", "reason", "tier", "unchecked")]
    query = select(*columns, func.count(), func.sum(outcomes.c.ms)).group_by(*columns)
    since = view.period.since.astimezone(UTC)
    async with database.connect() as connection:
        await connection.execute(query.where(outcomes.c.tenant == view.tenant, outcomes.c.at >= since))


async def measured(url: str, n: int) -> Table:
    """The table of one database."""
    database = await Database.open(url)
    try:
        plain, counting = await written(database, rows(n))
        figures = Figures(database, NoAudits())  # type: ignore[arg-type]
        table = Table(
            "days", "every figure", "one GROUP BY of outcomes", "all questions", "must_not:crime", "its end",
            title=f"{n:,} outcomes; {plain / n * 1e6:.0f} µs to keep, {counting / n * 1e6:.0f} to count one",
        )  # fmt: skip
        for days in (1, 7, 30, DAYS):
            view = View("default", last_days(days, now=NOW))
            rare = Behind(outcome="refused", reason="must_not:crime")
            page = await figures.questions(view, rare, limit=1)
            last = page.questions[0].id - 1 if page.questions else None
            cells = [
                await milliseconds(lambda view=view: figures.report(view)),
                await milliseconds(lambda view=view: raw(database, view)),
                await milliseconds(lambda view=view: figures.questions(view, Behind())),
                await milliseconds(lambda view=view, rare=rare: figures.questions(view, rare)),
                await milliseconds(
                    lambda view=view, rare=rare, last=last: figures.questions(view, rare, after=last)
                ),
            ]
            table.add_row(str(days), *(f"{cell:.0f} ms" for cell in cells))
        return table
    finally:
        await database.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--outcomes", type=int, default=1_000_000)
    parser.add_argument("--url", help="an empty database; a new SQLite file without it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or f"sqlite:///{Path(folder) / 'figures.db'}"
        Console().print(asyncio.run(measured(url, given.outcomes)))


if __name__ == "__main__":
    main()
