"""Outcomes are added to the hour's counts in the transaction that keeps them: the two can't disagree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.figures.bins import faithfulness_bin, ms_bin
from storage.schema import outcome_bins, outcome_hours

__all__ = ["count"]

_DRAFTING = ("rag", "faithfulness")  # the stages that an answer from the cache spares


async def count(connection: AsyncConnection, outcomes: Iterable[Mapping[str, Any]]) -> None:
    """Add outcomes, given as rows of their table, to the counts of their hours."""
    hours: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    bins: Counter[tuple[Any, ...]] = Counter()
    for row in outcomes:
        hour = _hour(row["at"])
        tier = row["tier"] or ""
        key = (row["tenant"], hour, row["language"], row["outcome"], row["reason"], tier, row["unchecked"])
        hours[key].update(_counted(row))
        bins.update((row["tenant"], hour, name, row["language"], place) for name, place in _measured(row))
    await _add(connection, outcome_hours, ((*key, sums) for key, sums in hours.items()))
    await _add(connection, outcome_bins, ((*key, {"n": n}) for key, n in bins.items()))


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _counted(row: Mapping[str, Any]) -> dict[str, Any]:
    stages, share, tokens = row["stage_ms"], row["faithfulness"], row["tokens_in"]
    drafted = "rag" in stages
    return {
        "n": 1,
        "lookups": int("cache" in stages),
        "checked": int(share is not None),
        "supported": int(share == 1.0),
        "faithfulness": share or 0.0,
        "ms": row["ms"],
        "drafted": int(drafted),
        "drafted_ms": sum(stages.get(stage, 0.0) for stage in _DRAFTING) if drafted else 0.0,
        "metered": int(tokens is not None),
        "tokens_in": tokens or 0,
        "tokens_out": row["tokens_out"] or 0,
    }


def _measured(row: Mapping[str, Any]) -> Iterable[tuple[str, int]]:
    yield f"ms:{row['outcome']}", ms_bin(row["ms"])
    for stage, ms in row["stage_ms"].items():
        yield f"stage:{stage}", ms_bin(ms)
    if row["faithfulness"] is not None:
        yield "faithfulness", faithfulness_bin(row["faithfulness"])


async def _add(connection: AsyncConnection, table: Table, counted: Iterable[tuple[Any, ...]]) -> None:
    """In the order of the keys: two gateways that count at the same time can't lock each other up."""
    keys = [column.name for column in table.primary_key]
    rows = [
        dict(zip(keys, row[:-1], strict=True)) | dict(row[-1])
        for row in sorted(counted, key=lambda one: one[:-1])
    ]
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    adding = dialect.insert(table)
    sums = {
        column.name: column + adding.excluded[column.name]
        for column in table.columns
        if not column.primary_key
    }
    await connection.execute(adding.on_conflict_do_update(index_elements=keys, set_=sums), rows)
