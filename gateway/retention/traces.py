"""Where an asker left traces: their requests, their tickets, and their words in other hands.

What takes long to find is found first, while everybody writes (`Left`). The rest is found for some requests
at a time, in the transaction in which it goes (`Traces`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import uuid4

from sqlalchemy import Column, ColumnElement, Select, Table, Text, func, or_, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.reading.text import exact_key, normalise
from classifiers.text import normalise as as_the_gate
from classifiers.text import only_words
from storage.parts import in_parts
from storage.schema import answers, audits, draft_labels, feedback, outcomes, ticket_events, tickets
from storage.schema.base import holds

__all__ = [
    "AT_ONCE",
    "Left",
    "Traces",
    "asker_key",
    "chunks",
    "disputes",
    "left_by",
    "of_asker",
    "of_requests",
    "recorded",
    "traces_of",
]

AT_ONCE = 500  # values in one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What an asker of a tenant left here, and what it is called from now on."""

    tenant: str
    asker: str
    requests: Mapping[str, str]  # theirs, and a name for each that nobody knows
    nobody: str  # the one name under which their feedback stays
    disputes: Mapping[str, Sequence[int]]  # by request: events in which they may have said something
    last_event: int  # of all tickets, when those were looked up
    since: datetime | None  # the first that is known of them; None: there is nothing

    @property
    def key(self) -> str | None:
        """What the record of outcomes keeps of them."""
        return asker_key(self.tenant, self.asker)

    def parts(self, size: int) -> Iterator[Left]:
        """The same with so many requests at a time; once where there are none."""
        for some in in_parts([*self.requests], size) if self.requests else [()]:
            yield replace(self, requests={request: self.requests[request] for request in some})


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What some requests of an asker left."""

    left: Left
    tickets: tuple[str, ...]
    words: frozenset[bytes]  # keys of what they wrote, as the cache compares questions
    gate_words: frozenset[bytes]  # the same as the gate compares them


def asker_key(tenant: str, asker: str | None) -> str | None:
    """What the record of outcomes keeps of an asker's id, if one was given."""
    if not asker:
        return None
    return sha256(f"{tenant}\x00{asker}".encode(errors="replace")).hexdigest()


async def left_by(connection: AsyncConnection, tenant: str, asker: str) -> Left:
    """Find it; requests older than `outcomes.asker_key` only by tickets, answers and feedback."""
    keyed = outcomes.c.asker_key == asker_key(tenant, asker)
    requests = set(await connection.scalars(select(outcomes.c.request_id).where(keyed)))
    first = [await connection.scalar(select(func.min(outcomes.c.at)).where(keyed))]
    for table, at in ((tickets, tickets.c.created_at), (answers, answers.c.at), (feedback, feedback.c.at)):
        named = (table.c.tenant == tenant, holds(connection, table.c.asker, asker))
        requests |= set(await connection.scalars(select(table.c.request_id).where(*named)))
        first.append(await connection.scalar(select(func.min(at)).where(*named)))
    last_event = await connection.scalar(select(func.max(ticket_events.c.id))) or 0
    said: dict[str, list[int]] = defaultdict(list)
    for id_, _, detail in (await connection.execute(disputes(tenant))).all():
        if detail.get("request_id") in requests:
            said[detail["request_id"]].append(id_)
    return Left(
        tenant=tenant,
        asker=asker,
        requests={request: f"forgotten-{uuid4().hex}" for request in sorted(requests)},
        nobody=f"forgotten-{uuid4().hex}",
        disputes=said,
        last_event=last_event,
        since=min((at for at in first if at is not None), default=None),
    )


async def traces_of(connection: AsyncConnection, left: Left) -> Traces:
    """What these requests left, in the transaction in which it goes."""
    ids = await connection.scalars(select(tickets.c.id).where(*of_asker(connection, tickets, left)))
    own = tuple(sorted(ids))
    texts = await _texts(connection, left, own)
    return Traces(
        left=left,
        tickets=own,
        words=frozenset(exact_key(normalise(text)) for text in texts if normalise(text)),
        gate_words=frozenset(exact_key(words) for text in texts if (words := only_words(as_the_gate(text)))),
    )


def of_asker(connection: AsyncConnection, table: Table, left: Left) -> tuple[ColumnElement[bool], ...]:
    """Rows of these requests that name the asker, or nobody.

    A client may give several askers' requests one id; what names another stays.
    """
    named = holds(connection, table.c.asker, left.asker)
    unnamed = type_coerce(table.c.asker, Text()).concat("").is_(None)  # by no index, as in `of_requests`
    return (*of_requests(table, left), or_(named, unnamed))


def recorded(left: Left) -> tuple[ColumnElement[bool], ...]:
    """The same of outcomes, which hold a key of the asker."""
    own = or_(outcomes.c.asker_key == left.key, outcomes.c.asker_key.is_(None))
    return (*of_requests(outcomes, left), own)


def of_requests(table: Table, left: Left) -> tuple[ColumnElement[bool], ...]:
    """Rows of these requests, whoever asked.

    An expression is in no index: by the tenant's, SQLite would read all of the tenant's rows each time. Only
    answers have one of both.
    """
    tenant = table.c.tenant if table is answers else table.c.tenant.concat("")
    return tenant == left.tenant, table.c.request_id.in_(left.requests)


def disputes(tenant: str) -> Select[Any]:
    """What was said of answers on a tenant's tickets: event, ticket, detail."""
    query = select(ticket_events.c.id, ticket_events.c.ticket_id, ticket_events.c.detail)
    query = query.join(tickets, tickets.c.id == ticket_events.c.ticket_id)
    return query.where(tickets.c.tenant.concat("") == tenant, ticket_events.c.event == "disputed")


def chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A few values at a time."""
    return in_parts(values, AT_ONCE)


async def _texts(connection: AsyncConnection, left: Left, ids: Sequence[str]) -> list[str]:
    """Everything that they wrote, wherever a question could have been taken over from."""
    rows = [*await _rows(connection, (outcomes.c.question,), *recorded(left))]
    rows += await _rows(connection, (audits.c.question,), *of_requests(audits, left))
    for some in chunks(ids):
        rows += await _rows(connection, (draft_labels.c.question,), draft_labels.c.ticket_id.in_(some))
    return [*await _asked(connection, left), *(text for (text,) in rows if text)]


async def _asked(connection: AsyncConnection, left: Left) -> list[str]:
    """Their questions as written, as understood, and what they wrote before."""
    texts: list[str] = []
    for table in (tickets, answers):
        columns = (table.c.question, table.c.real_question, table.c.turns)
        own = of_asker(connection, table, left)
        for question, real_question, turns in await _rows(connection, columns, *own):
            texts += [question, real_question, *_said(turns)]
    return texts


async def _rows(
    connection: AsyncConnection, columns: Sequence[Column[Any]], *conditions: ColumnElement[bool]
) -> Sequence[Any]:
    return (await connection.execute(select(*columns).where(*conditions))).all()


def _said(turns: Iterable[dict[str, str]]) -> Iterator[str]:
    return (turn["text"] for turn in turns if turn["role"] == "user")
