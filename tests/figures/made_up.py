"""Outcomes as a gateway would write them, made up by chance, and figures of them computed the long way."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from gateway.figures.rates import Rate
from gateway.recording.outcomes import OutcomeLog, OutcomeRow
from storage.sql import Database

KINDS = [  # outcome, reason, tier, stages
    ("ground_truth", "verified_exact", "exact", ("gate", "cache")),
    ("confirmed_answer", "verified_vector", "vector", ("gate", "cache")),
    ("ground_truth", "accepted_offer", None, ()),
    ("rag", "supported", None, ("gate", "cache", "rag", "faithfulness")),
    ("rag", "unchecked", None, ("gate", "rag", "faithfulness")),
    ("refused", "may", None, ("gate",)),
    ("refused", "must_not", None, ("gate",)),
    ("refused", "must_not:crime", None, ("gate",)),
    ("withheld", "unsupported_statement", None, ("gate", "cache", "rag", "faithfulness")),
    ("escalated", "unchecked", None, ("gate", "cache", "rag", "faithfulness")),
    ("escalated", "gate_unsure", None, ("gate", "cache")),
    ("escalated", "nothing_relevant", None, ("gate", "cache", "rag")),
]  # fmt: skip


def outcome(chance: random.Random, at: datetime, *, tenant: str = "default", number: int = 0) -> OutcomeRow:
    name, reason, tier, stages = chance.choice(KINDS)
    unchecked = reason == "unchecked"
    share = chance.choice([0.0, 0.25, 1 / 3, 0.5, 0.95, 1.0])
    drafted = "rag" in stages
    return OutcomeRow(
        tenant=tenant, request_id=f"r-{number}", question_hash="h", question=None,
        language=chance.choice(["en", "ja", "zh"]), outcome=name, reason=reason, tier=tier,
        entry_id="e-1" if tier else None, ticket_id=None,
        faithfulness=share if "faithfulness" in stages and not unchecked else None, unchecked=unchecked,
        gate_score=0.5, stage_ms={stage: chance.uniform(0.1, 900) for stage in stages},
        ms=chance.lognormvariate(4, 2), tokens_in=chance.randrange(900) if drafted else None,
        tokens_out=chance.randrange(90) if drafted else None, at=at,
    )  # fmt: skip


def outcomes(seed: int, n: int, *, until: datetime, days: int) -> list[OutcomeRow]:
    """Of two tenants, over some days before a moment."""
    chance = random.Random(seed)
    return [
        outcome(
            chance,
            until - timedelta(seconds=chance.uniform(0, days * 86400)),
            tenant=chance.choice(["default", "default", "other"]),
            number=number,
        )
        for number in range(n)
    ]


async def write(database: Database, rows: Sequence[OutcomeRow], *, batch: int = 70) -> None:
    """As the gateway does: some at a time."""
    log = OutcomeLog(database, on_lost=lambda lost: None)
    for begin in range(0, len(rows), batch):
        for row in rows[begin : begin + batch]:
            log.add(row)
        await log.flush()


def long_way(rows: Iterable[OutcomeRow]) -> dict[str, Rate]:
    """The rates as their definitions in words have them, from raw outcomes."""
    kept = list(rows)
    n = len(kept)

    def of(counted: Any, base: int = n) -> Rate:
        return Rate(sum(1 for row in kept if counted(row)), base)

    lookups = sum("cache" in row.stage_ms for row in kept)
    drafts = sum(row.faithfulness is not None or row.unchecked for row in kept)
    return {
        "questions": of(lambda row: True),
        "refused": of(lambda row: row.outcome == "refused"),
        "refused_may": of(lambda row: row.outcome == "refused" and row.reason == "may"),
        "refused_must_not": of(lambda row: row.outcome == "refused" and row.reason.startswith("must_not")),
        "cache_hits": of(lambda row: row.tier is not None),
        "cache_exact": of(lambda row: row.tier == "exact"),
        "cache_vector": of(lambda row: row.tier == "vector"),
        "cache_hits_of_lookups": of(lambda row: row.tier is not None, lookups),
        "accepted_offers": of(lambda row: row.reason == "accepted_offer"),
        "rag": of(lambda row: row.outcome == "rag"),
        "withheld": of(lambda row: row.outcome == "withheld"),
        "escalated": of(lambda row: row.outcome == "escalated"),
        "unchecked": of(lambda row: row.unchecked, drafts),
    }
