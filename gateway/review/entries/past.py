"""What people asked before and got no verified answer to: where new phrasings are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from cache.reading.text import normalise
from cache.store.suggestions import SuggestionSource
from cache.trial.fitting import Asked
from storage.schema import outcomes, tickets
from storage.sql import Database

__all__ = ["PastQuestions"]

RECENT = 1_000  # rows of each kind that are read
MOST = 300  # different questions that are looked at, those asked most often first


class PastQuestions:
    """Self-contained questions of tickets, and of the record where the operator keeps texts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of(self, tenant: str, language: str, *, near: str) -> tuple[Asked, ...]:
        """A tenant's past questions in a language; `near` is the entry whose near misses are told apart.

        A question counts as self-contained where the cache was asked: follow-ups are never looked up.
        """
        of_tickets = (
            select(tickets.c.request_id, tickets.c.question, tickets.c.steps)
            .where(tickets.c.tenant == tenant, tickets.c.language == language)
            .where(tickets.c.outcome.in_(("escalated", "withheld")))
            .order_by(tickets.c.created_at.desc())
            .limit(RECENT)
        )
        recorded = (
            select(outcomes.c.request_id, outcomes.c.question, outcomes.c.stage_ms)
            .where(outcomes.c.tenant == tenant, outcomes.c.language == language)
            .where(outcomes.c.question.is_not(None), outcomes.c.tier.is_(None))
            .order_by(outcomes.c.id.desc())
            .limit(RECENT)
        )
        async with self._db.connect() as connection:
            ticketed = (await connection.execute(of_tickets)).all()
            texts = (await connection.execute(recorded)).all()
        return _counted([*_of_tickets(ticketed, near), *_of_record(texts)])


@dataclass(slots=True)
class _Count:
    text: str
    source: SuggestionSource
    requests: set[str] = field(default_factory=set)


_Told = tuple[str, str, SuggestionSource]  # request, question, what we know of it


def _of_tickets(rows: Iterable[Sequence[Any]], near: str) -> Iterator[_Told]:
    for request, question, steps in rows:
        looked_up = [step["found"] for step in steps if step["stage"] == "cache"]
        if looked_up:
            yield request, question, "near_miss" if _is_near(looked_up[0], near) else "ticket"


def _of_record(rows: Iterable[Sequence[Any]]) -> Iterator[_Told]:
    for request, question, stage_ms in rows:
        if "cache" in stage_ms:
            yield request, question, "asked"


def _is_near(found: Mapping[str, Any], entry: str) -> bool:
    return bool(found["type"] == "near_miss" and found["entry"]["id"] == entry)


def _counted(told: Iterable[_Told]) -> tuple[Asked, ...]:
    """Each question once; a ticket and the record of the same request are one time."""
    counts: dict[str, _Count] = {}
    for request, question, source in told:
        if normalised := normalise(question):
            counts.setdefault(normalised, _Count(question, source)).requests.add(request)
    often = sorted(counts.values(), key=lambda one: -len(one.requests))
    return tuple(Asked(text=one.text, times=len(one.requests), source=one.source) for one in often[:MOST])
