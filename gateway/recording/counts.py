"""Outcomes are added to the hour's counts in the transaction that keeps them: the two can't disagree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from storage.schema import outcome_hours
from storage.upserting import insert_into

__all__ = ["FAITHFULNESS_BINS", "count", "faithfulness_bin", "sums_of"]

FAITHFULNESS_BINS = 21  # twentieths; the last one is F = 1 alone
_DRAFTING = ("rag", "faithfulness")  # the stages that an answer from the cache spares


def faithfulness_bin(share: float | None) -> int:
    """Which twentieth a share of supported statements falls into; -1 where no draft was judged."""
    return -1 if share is None else int(share * 20 + 1e-9)


async def count(connection: AsyncConnection, outcomes: Iterable[Mapping[str, Any]]) -> None:
    """Add outcomes, given as rows of their table, to the counts of their hours."""
    hours: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for row in outcomes:
        alike = (row["language"], row["outcome"], row["reason"], row["tier"] or "", row["unchecked"])
        key = (row["tenant"], _hour(row["at"]), *alike, faithfulness_bin(row["faithfulness"]))
        hours[key].update(sums_of(row))
    if hours:
        await _add(connection, hours)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def sums_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What one outcome, given as a row of its table, adds to its hour."""
    stages, tokens = row["stage_ms"], row["tokens_in"]
    drafted = "rag" in stages
    return {
        "n": 1,
        "lookups": int("cache" in stages),
        "faithfulness": row["faithfulness"] or 0.0,
        "drafted": int(drafted),
        "drafted_ms": sum(stages.get(stage, 0.0) for stage in _DRAFTING) if drafted else 0.0,
        "metered": int(tokens is not None),
        "tokens_in": tokens or 0,
        "tokens_out": row["tokens_out"] or 0,
    }


async def _add(connection: AsyncConnection, hours: Mapping[tuple[Any, ...], Counter[str]]) -> None:
    """In the order of the keys: two gateways that count at the same time can't lock each other up."""
    keys = [column.name for column in outcome_hours.primary_key]
    rows = [dict(zip(keys, key, strict=True)) | dict(hours[key]) for key in sorted(hours)]
    adding = insert_into(connection, outcome_hours)
    sums = {
        column.name: column + adding.excluded[column.name]
        for column in outcome_hours.columns
        if not column.primary_key
    }
    await connection.execute(adding.on_conflict_do_update(index_elements=keys, set_=sums), rows)
