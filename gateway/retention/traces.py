"""Where an asker left traces: their requests, their tickets, and their words in other hands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.reading.text import exact_key, normalise
from classifiers.text import normalise as as_the_gate
from classifiers.text import only_words
from storage.parts import in_parts
from storage.schema import answers, audits, draft_labels, feedback, outcomes, tickets
from storage.schema.base import holds

__all__ = ["AT_ONCE", "Traces", "asker_key", "chunks", "of_asker", "traces_of"]

AT_ONCE = 500  # values in one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What belongs to an asker of a tenant."""

    tenant: str
    asker: str
    key: str
    requests: tuple[str, ...]
    tickets: tuple[str, ...]
    words: frozenset[bytes]  # keys of what they wrote, as the cache compares questions
    gate_words: frozenset[bytes]  # the same as the gate compares them


@dataclass(frozen=True, slots=True)
class _Found:
    tenant: str
    asker: str
    key: str
    requests: tuple[str, ...]
    tickets: tuple[str, ...]


def asker_key(tenant: str, asker: str | None) -> str | None:
    """What the record of outcomes keeps of an asker's id, if one was given."""
    if not asker:
        return None
    return sha256(f"{tenant}\x00{asker}".encode(errors="replace")).hexdigest()


async def traces_of(connection: AsyncConnection, tenant: str, asker: str) -> Traces:
    """Find them; requests older than `outcomes.asker_key` only by tickets, answers and feedback."""
    key = asker_key(tenant, asker) or ""
    requests = set(await connection.scalars(select(outcomes.c.request_id).where(outcomes.c.asker_key == key)))
    for table in (tickets, answers, feedback):
        named = select(table.c.request_id).where(
            table.c.tenant == tenant, holds(connection, table.c.asker, asker)
        )
        requests |= set(await connection.scalars(named))
    ids: set[str] = set()
    for some in (*chunks(sorted(requests)), []):
        own = select(tickets.c.id).where(
            tickets.c.tenant == tenant, of_asker(connection, tickets, asker, some)
        )
        ids |= set(await connection.scalars(own))
    found = _Found(tenant, asker, key, tuple(sorted(requests)), tuple(sorted(ids)))
    texts = await _texts(connection, found)
    return Traces(
        tenant=tenant,
        asker=asker,
        key=key,
        requests=found.requests,
        tickets=found.tickets,
        words=frozenset(exact_key(normalise(text)) for text in texts if normalise(text)),
        gate_words=frozenset(exact_key(words) for text in texts if (words := only_words(as_the_gate(text)))),
    )


def of_asker(
    connection: AsyncConnection, table: Table, asker: str, requests: Sequence[str]
) -> ColumnElement[bool]:
    """Rows of an asker: by their name, or of their requests where none was written down.

    A client may give several askers' requests one id; what names another stays.
    """
    unnamed = and_(table.c.asker.is_(None), table.c.request_id.in_(requests))
    return or_(holds(connection, table.c.asker, asker), unnamed)


def chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A few values at a time."""
    return in_parts(values, AT_ONCE)


async def _texts(connection: AsyncConnection, found: _Found) -> list[str]:
    """Everything that they wrote, wherever a question could have been taken over from."""
    rows: list[Any] = list(await _rows(connection, (outcomes.c.question,), outcomes.c.asker_key == found.key))
    asked = [await _asked(connection, found, some) for some in (*chunks(found.requests), [])]
    for some in chunks(found.requests):
        of_request = (audits.c.tenant == found.tenant, audits.c.request_id.in_(some))
        rows += await _rows(connection, (audits.c.question,), *of_request)
    for some in chunks(found.tickets):
        of_ticket = (draft_labels.c.tenant == found.tenant, draft_labels.c.ticket_id.in_(some))
        rows += await _rows(connection, (draft_labels.c.question,), *of_ticket)
    return [*chain(*asked), *(text for (text,) in rows if text)]


async def _asked(connection: AsyncConnection, found: _Found, requests: Sequence[str]) -> list[str]:
    """Their questions as written, as understood, and what they wrote before."""
    texts: list[str] = []
    for table in (tickets, answers):
        columns = (table.c.question, table.c.real_question, table.c.turns)
        own = (table.c.tenant == found.tenant, of_asker(connection, table, found.asker, requests))
        for question, real_question, turns in await _rows(connection, columns, *own):
            texts += [question, real_question, *_said(turns)]
    return texts


async def _rows(
    connection: AsyncConnection, columns: Sequence[Column[Any]], *conditions: ColumnElement[bool]
) -> Sequence[Any]:
    return (await connection.execute(select(*columns).where(*conditions))).all()


def _said(turns: Iterable[dict[str, str]]) -> Iterator[str]:
    return (turn["text"] for turn in turns if turn["role"] == "user")
