"""What the queue needs to know of a ticket: little enough that a thousand of them are read at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from gateway.database import reading
from gateway.review.tickets import WAITING
from storage.parts import in_parts
from storage.schema import tickets as table
from storage.sql import Database

__all__ = [
    "SEVERITY",
    "Waiting",
    "questions_of",
    "severity_of",
    "tickets_in",
    "topic_of",
    "topics_of",
    "waiting_ids",
]

# How much harm a question of this kind does while it waits, by reason; frequency times this ranks the queue.
SEVERITY: Mapping[str, int] = {
    "thumbs_down": 5,  # a wrong answer may be going out
    "source_changed": 4,  # so may this one
    "source_gone": 4,
    "unsupported_statement": 3,  # the chatbot makes things up here
    "unchecked": 3,
    "phrasing_of_forgotten": 3,  # words of somebody who wanted to be forgotten
    "nothing_relevant": 2,  # the documents have a gap
    "person_wanted": 2,
    "gate_unsure": 2,
    "upstream_unavailable": 2,  # not the question's fault, but somebody waits
    "classifier_failed": 2,
    "encoder_failed": 2,
    "internal_error": 2,
    "answer_then_review": 1,  # the asker has an answer
    "review_due": 1,
}
SEVERITY_OF_OTHERS = 2
AT_ONCE = 300  # tickets whose steps are read together


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A ticket as the queue shows it."""

    id: str
    question: str
    language: str
    group: str
    outcome: str
    reason: str
    state: str
    claimed_by: str | None
    created_at: datetime
    revision: int


_COLUMNS = tuple(table.c[name] for name in Waiting.__dataclass_fields__)


async def tickets_in(
    db: Database, tenant: str, states: Sequence[str], *, newest: int | None = None
) -> list[Waiting]:
    """A tenant's tickets in these states, the oldest first; `newest` gives only the last changed ones."""
    query: Select[Any] = select(*_COLUMNS).where(table.c.tenant == tenant, table.c.state.in_(states))
    ordered = query.order_by(table.c.created_at, table.c.id)
    if newest is not None:
        ordered = query.order_by(table.c.updated_at.desc(), table.c.id).limit(newest)
    async with reading(db, "tickets") as connection:
        rows = (await connection.execute(ordered)).mappings().all()
    return [Waiting(**row) for row in rows]


async def waiting_ids(db: Database) -> list[str]:
    """The tickets of all tenants that wait, the oldest first: read from the index alone."""
    query = select(table.c.id).where(table.c.state.in_(WAITING))
    async with reading(db, "tickets") as connection:
        return list(await connection.scalars(query.order_by(table.c.created_at, table.c.id)))


async def questions_of(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """What these tickets ask; those that are gone by now are not in it."""
    query = select(table.c.id, table.c.question).where(table.c.id.in_(ids))
    async with reading(db, "tickets") as connection:
        return {row.id: row.question for row in await connection.execute(query)}


def severity_of(reason: str) -> int:
    """How much harm a question with this reason does while it waits."""
    return SEVERITY.get(reason, SEVERITY_OF_OTHERS)


async def topics_of(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """What each ticket is about, as far as its steps tell; the empty text where they don't."""
    found: dict[str, str] = {}
    for some in in_parts(ids, AT_ONCE):
        query = select(table.c.id, table.c.steps).where(table.c.id.in_(some))
        async with reading(db, "tickets") as connection:
            rows = (await connection.execute(query)).all()
        found |= {id_: topic_of(steps) for id_, steps in rows}
    return found


def topic_of(steps: Sequence[Mapping[str, Any]]) -> str:
    """The document that was found for it, or that the entry nearest to it came from."""
    return next((" ".join(name.split()) for name in _documents(steps) if name.strip()), "")


def _documents(steps: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for step in steps:
        found = step.get("found") or {}
        for passage in found.get("contexts") or ():
            yield passage.get("source") or passage.get("title") or ""
        for source in (found.get("entry") or {}).get("sources") or ():
            yield source.get("document", "")
        if "document" in step:  # a change of a source has no stage
            yield step["document"]
