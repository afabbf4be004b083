"""What rules in shadow mode would have done: how often, and to which questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from gateway.database import reading
from storage.schema import outcomes
from storage.sql import Database

__all__ = ["ShadowCount", "ShadowReport", "ShadowedQuestion", "shadow_report"]

RECENT = 10_000  # questions in shadow that are counted, the newest first


@dataclass(frozen=True, slots=True)
class ShadowCount:
    """How often a rule would have said this."""

    rule: str
    label: str
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowedQuestion:
    """A question that a rule in shadow mode objected to, and what became of it."""

    at: datetime
    request_id: str
    question: str | None  # kept where it would have been must not, or the operator switched texts on
    outcome: str
    reason: str
    ticket: str | None
    shadow: Sequence[Mapping[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReport:
    """Of the newest questions in shadow."""

    since: datetime | None  # of the oldest that was counted
    rules: tuple[ShadowCount, ...]
    questions: tuple[ShadowedQuestion, ...]


async def shadow_report(db: Database, *, tenant: str, rule: str | None, limit: int) -> ShadowReport:
    """A tenant's report; `rule` narrows it to one, or to all of a kind ("deny").

    Raises:
        StoreUnavailable: if the record can't be read.
    """
    recent = (
        select(outcomes)
        .where(outcomes.c.tenant == tenant, outcomes.c.shadow.is_not(None))
        .order_by(outcomes.c.id.desc())
        .limit(RECENT)
    )
    async with reading(db, "record of outcomes") as connection:
        rows = [row for row in (await connection.execute(recent)).mappings() if _has(row["shadow"], rule)]
    counts = Counter((one["rule"], one["label"]) for row in rows for one in row["shadow"] if _is(one, rule))
    return ShadowReport(
        since=rows[-1]["at"] if rows else None,
        rules=tuple(ShadowCount(*named, times) for named, times in counts.most_common()),
        questions=tuple(map(_question, rows[:limit])),
    )


def _is(one: Mapping[str, Any], rule: str | None) -> bool:
    return rule is None or rule in (one["rule"], one["rule"].partition(":")[0])


def _has(shadow: Iterable[Mapping[str, Any]], rule: str | None) -> bool:
    return any(_is(one, rule) for one in shadow)


def _question(row: Mapping[Any, Any]) -> ShadowedQuestion:
    return ShadowedQuestion(
        at=row["at"],
        request_id=row["request_id"],
        question=row["question"],
        outcome=row["outcome"],
        reason=row["reason"],
        ticket=row["ticket_id"],
        shadow=row["shadow"],
    )
