"""Reviewed tickets as regression cases: what was asked, what was right, what the chatbot said.

A case has the class of the question where a reviewer said it or answered, and the draft with its label.
What nobody said stays null; nothing is guessed. The other forms are those that `sekisho evaluate gate`
and `sekisho evaluate faithfulness` read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from sqlalchemy import RowMapping, select

from gateway.review.judgements import drafted
from gateway.review.steps import Json
from gateway.review.tickets import Ticket
from storage.schema import documents, draft_labels, entries, gate_examples, passages, tickets
from storage.sql import Database

__all__ = ["as_answer_case", "as_gate_case", "reviewed_cases", "source_passages"]

AT_ONCE = 200  # tickets
MOST_PASSAGES = 20  # of the documents that an answer came from


async def reviewed_cases(db: Database, tenant: str) -> AsyncIterator[dict[str, Json]]:
    """A tenant's tickets that a person answered or dismissed, the oldest first; not reviews of entries."""
    last = ""
    while True:
        query = select(tickets).where(
            tickets.c.tenant == tenant,
            tickets.c.state.in_(("answered", "dismissed")),
            tickets.c.outcome != "stale_entry",
            tickets.c.id > last,
        )
        async with db.connect() as connection:
            rows = (await connection.execute(query.order_by(tickets.c.id).limit(AT_ONCE))).mappings().all()
        if not rows:
            return
        last = rows[-1]["id"]
        for row in rows:
            yield await _case(db, row)


def as_gate_case(case: dict[str, Json]) -> dict[str, Json] | None:
    """A question with its class; None where nobody said which."""
    if case["gold"] is None:
        return None
    return {"text": case["question"], "gold": case["gold"], "slice": "reviewed", "lang": case["lang"]}


def as_answer_case(case: dict[str, Json]) -> dict[str, Json] | None:
    """A draft with its contexts and its label; None where nobody labelled it."""
    if case["faithful"] is None:
        return None
    return {
        "answer": case["recorded_answer"],
        "contexts": case["recorded_contexts"],
        "faithful": case["faithful"],
        "question": case["question"],
        "lang": case["lang"],
    }


async def _case(db: Database, row: RowMapping) -> dict[str, Json]:
    ticket = Ticket(**dict(row) | {"turns": tuple(row["turns"]), "steps": tuple(row["steps"])})
    draft = drafted(ticket)
    gold, topic = await _gold(db, ticket)
    sources = await _sources(db, ticket)
    recorded: list[Json] = [passage["text"] for passage in draft.contexts] if draft else []
    used = [passage["text"] for passage in (draft.contexts if draft else ()) if passage["source"] in sources]
    return {
        "id": ticket.id,
        "lang": ticket.language,
        "messages": [dict(turn) for turn in ticket.turns],
        "real_question": ticket.real_question,
        "question": ticket.question,
        "gold": gold,
        "topic": topic,
        "ground_truth": ticket.answer,
        "ground_contexts": [*used] or [*await source_passages(db, sources)],
        "recorded_answer": draft.text if draft else None,
        "recorded_contexts": recorded,
        "faithful": await _faithful(db, ticket),
        "entry_id": ticket.entry_id,
        "outcome": ticket.outcome,
        "reason": ticket.reason,
    }


async def _gold(db: Database, ticket: Ticket) -> tuple[str | None, str | None]:
    """What a reviewer said of the question; whoever answered it took it for ours."""
    said = select(gate_examples.c.label, gate_examples.c.topic).where(
        gate_examples.c.ticket_id == ticket.id, gate_examples.c.state != "rejected"
    )
    async with db.connect() as connection:
        row = (await connection.execute(said)).first()
    if row is not None:
        return row.label, row.topic or None
    return ("must" if ticket.state == "answered" else None), None


async def _faithful(db: Database, ticket: Ticket) -> bool | None:
    said = select(draft_labels.c.faithful).where(draft_labels.c.ticket_id == ticket.id)
    async with db.connect() as connection:
        found: bool | None = await connection.scalar(said)
    return found


async def _sources(db: Database, ticket: Ticket) -> Sequence[str]:
    """The documents that the published answer came from, as its entry says."""
    if ticket.entry_id is None:
        return ()
    said = select(entries.c.sources).where(entries.c.id == ticket.entry_id)
    async with db.connect() as connection:
        found: list[dict[str, Any]] = await connection.scalar(said) or []
    return [source["document"] for source in found]


async def source_passages(db: Database, sources: Sequence[str]) -> Sequence[str]:
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
    async with db.connect() as connection:
        return (await connection.scalars(query)).all()
