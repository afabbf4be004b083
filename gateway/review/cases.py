"""Cases for `sekisho evaluate`: reviewed tickets, verified entries, and what was answered lately.

A reviewed case has the class of the question where a reviewer said it or answered, and the draft with its
label. What nobody said stays null; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.store import EntryStore
from cache.store.queries import Filters
from gateway.rendering import Json
from gateway.review.judgements import drafted
from gateway.review.tickets import Ticket, ticket_of
from storage.schema import (
    answers,
    asked_by_somebody,
    documents,
    draft_labels,
    entries,
    gate_examples,
    passages,
    tickets,
)
from storage.sql import Database

__all__ = ["as_answer_case", "as_gate_case", "entry_cases", "reviewed_cases", "traffic_cases"]

Case = dict[str, Json]

AT_ONCE = 200  # tickets or answers
MOST_PASSAGES = 20  # of the documents that an answer came from


async def reviewed_cases(db: Database, tenant: str) -> AsyncIterator[Case]:
    """A tenant's tickets that a person answered or dismissed, by id; not reviews of entries."""
    last = ""
    while True:
        query = select(tickets).where(
            tickets.c.tenant == tenant,
            tickets.c.state.in_(("answered", "dismissed")),
            asked_by_somebody,
            tickets.c.id > last,
        )
        async with db.connect() as connection:
            rows = (await connection.execute(query.order_by(tickets.c.id).limit(AT_ONCE))).mappings().all()
            cases = [await _of_ticket(connection, ticket_of(row)) for row in rows]
        if not rows:
            return
        last = rows[-1]["id"]
        for case in cases:
            yield case


async def entry_cases(db: Database, tenant: str) -> AsyncIterator[Case]:
    """A case for every phrasing of a tenant's active entries; the passages are those of its documents."""
    async for page in EntryStore(db).walk(tenant, Filters(state="active")):
        async with db.connect() as connection:
            contexts = [
                await _passages_of(connection, [source.document for source in entry.sources])
                for entry in page.entries
            ]
        for entry, its_contexts in zip(page.entries, contexts, strict=True):
            for place, phrasing in enumerate(entry.phrasings, 1):
                yield _of_entry(entry, place, phrasing, its_contexts)


async def traffic_cases(db: Database, tenant: str) -> AsyncIterator[Case]:
    """What was answered in the last days, as far as it is kept (`feedback`); nobody wrote a truth to it."""
    last = 0
    while True:
        query = select(answers).where(answers.c.tenant == tenant, answers.c.id > last)
        async with db.connect() as connection:
            rows = (await connection.execute(query.order_by(answers.c.id).limit(AT_ONCE))).mappings().all()
        if not rows:
            return
        last = rows[-1]["id"]
        for row in rows:
            yield _of_answer(row)


def as_gate_case(case: Case) -> Case | None:
    """A reviewed question with its class, for `sekisho evaluate gate`; None where nobody said which."""
    if case["gold"] is None:
        return None
    return {"text": case["question"], "gold": case["gold"], "slice": "reviewed", "lang": case["lang"]}


def as_answer_case(case: Case) -> Case | None:
    """A reviewed draft with its contexts, for `sekisho evaluate faithfulness`; None without a label."""
    if case["faithful"] is None:
        return None
    return {
        "answer": case["recorded_answer"],
        "contexts": case["recorded_contexts"],
        "faithful": case["faithful"],
        "question": case["question"],
        "lang": case["lang"],
    }


async def _of_ticket(connection: AsyncConnection, ticket: Ticket) -> Case:
    draft = drafted(ticket)
    gold, topic = await _gold(connection, ticket)
    sources = await _sources(connection, ticket)
    contexts = draft.contexts if draft else ()
    used = [passage["text"] for passage in contexts if passage["source"] in sources]
    return {
        "id": ticket.id,
        "lang": ticket.language,
        "messages": [dict(turn) for turn in ticket.turns],
        "real_question": ticket.real_question,
        "question": ticket.question,
        "gold": gold,
        "topic": topic,
        "ground_truth": ticket.answer,
        "ground_contexts": used or [*await _passages_of(connection, sources)],
        "recorded_answer": draft.text if draft else None,
        "recorded_contexts": [passage["text"] for passage in contexts],
        "faithful": await _faithful(connection, ticket),
        "entry_id": ticket.entry_id,
        "outcome": ticket.outcome,
        "reason": ticket.reason,
    }


def _of_entry(entry: Entry, place: int, phrasing: str, contexts: Sequence[str]) -> Case:
    return {
        "id": f"{entry.id}#{place}",
        "lang": entry.language,
        "real_question": phrasing,
        "question": phrasing,
        "ground_truth": entry.answer,
        "ground_contexts": list(contexts),
        "tags": ["entry", entry.kind],
    }


def _of_answer(row: Mapping[Any, Any]) -> Case:
    found = {step["stage"]: step["found"] for step in row["steps"]}
    draft = found.get("rag", {})
    cached = found.get("cache", {}).get("entry") or {}
    text = cached.get("answer") if row["entry_id"] else draft.get("text")
    return {
        "id": f"{row['request_id']}-{row['id']}",
        "lang": row["language"],
        "messages": [{"role": turn["role"], "text": turn["text"]} for turn in row["turns"]],
        "real_question": row["real_question"],
        "question": row["question"],
        "recorded_answer": text,
        "recorded_contexts": [passage["text"] for passage in draft.get("contexts", ()) if passage["text"]],
        "tags": ["traffic", "cache" if row["entry_id"] else "rag"],
    }


async def _gold(connection: AsyncConnection, ticket: Ticket) -> tuple[str | None, str | None]:
    """What a reviewer said of the question; whoever answered it took it for ours."""
    said = (
        select(gate_examples.c.label, gate_examples.c.topic)
        .where(gate_examples.c.ticket_id == ticket.id, gate_examples.c.state != "rejected")
        .order_by(gate_examples.c.at.desc())
    )
    row: RowMapping | None = (await connection.execute(said)).mappings().first()
    if row is not None:
        return row["label"], row["topic"] or None
    return ("must" if ticket.state == "answered" else None), None


async def _faithful(connection: AsyncConnection, ticket: Ticket) -> bool | None:
    said = select(draft_labels.c.faithful).where(draft_labels.c.ticket_id == ticket.id)
    found: bool | None = await connection.scalar(said)
    return found


async def _sources(connection: AsyncConnection, ticket: Ticket) -> Sequence[str]:
    """The documents that the published answer came from, as its entry says."""
    if ticket.entry_id is None:
        return ()
    said = select(entries.c.sources).where(entries.c.id == ticket.entry_id)
    found: list[dict[str, Any]] = await connection.scalar(said) or []
    return [source["document"] for source in found]


async def _passages_of(connection: AsyncConnection, sources: Sequence[str]) -> Sequence[str]:
    """The passages of these documents, at most twenty."""
    if not sources:
        return ()
    query = (
        select(passages.c.text)
        .join(documents, documents.c.id == passages.c.document_id)
        .where(documents.c.path.in_(sources))
        .order_by(documents.c.path, passages.c.position)
        .limit(MOST_PASSAGES)
    )
    return (await connection.scalars(query)).all()
