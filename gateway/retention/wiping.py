"""Rows that go, and rows that stay without the words: tickets, answers, outcomes, feedback, audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import uuid4

from sqlalchemy import Update, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.retention.traces import Traces, chunks, of_asker
from storage.schema import (
    answers,
    audits,
    deliveries,
    draft_labels,
    feedback,
    outcomes,
    ticket_events,
    tickets,
)

__all__ = ["close_requests", "delete_answers", "delete_tickets", "redact_disputes"]


async def delete_answers(connection: AsyncConnection, traces: Traces, requests: Sequence[str]) -> int:
    """What they were answered in the last days."""
    own = of_asker(connection, answers, traces.asker, requests)
    gone = delete(answers).where(answers.c.tenant == traces.tenant, own)
    return (await connection.execute(gone)).rowcount


async def delete_tickets(connection: AsyncConnection, tenant: str, ids: Sequence[str]) -> Counter[str]:
    """Tickets with their events, what was to be delivered of them, and the labels of their drafts.

    A notice to reviewers may still name them: it holds counts and numbers, no word of an asker.
    """
    counts: Counter[str] = Counter()
    for some in chunks(ids):
        for table in (ticket_events, deliveries, draft_labels):
            gone = await connection.execute(delete(table).where(table.c.ticket_id.in_(some)))
            counts[table.name] += gone.rowcount
        gone = await connection.execute(delete(tickets).where(tickets.c.id.in_(some)))
        counts["tickets"] += gone.rowcount
        unnamed = update(outcomes).where(outcomes.c.tenant == tenant, outcomes.c.ticket_id.in_(some))
        await connection.execute(unnamed.values(ticket_id=None))
    return counts


async def redact_disputes(
    connection: AsyncConnection, tenant: str, aliases: Mapping[str, str], *, but: Sequence[str]
) -> int:
    """What they said of an answer may stand on the ticket of another who asked the same."""
    query = select(ticket_events.c.id, ticket_events.c.ticket_id, ticket_events.c.detail)
    query = query.join(tickets, tickets.c.id == ticket_events.c.ticket_id)
    query = query.where(tickets.c.tenant == tenant, ticket_events.c.event == "disputed")
    changed, going = 0, set(but)
    for id_, ticket_id, detail in (await connection.execute(query)).all():
        alias = aliases.get(detail.get("request_id", ""))
        if alias is not None and ticket_id not in going:
            silent = {**detail, "request_id": alias, "comment": ""}
            await connection.execute(
                update(ticket_events).where(ticket_events.c.id == id_).values(detail=silent)
            )
            changed += 1
    return changed


async def close_requests(
    connection: AsyncConnection, traces: Traces, aliases: Mapping[str, str]
) -> Counter[str]:
    """Outcomes, verdicts and judged audits stay to be counted, under a request that nobody knows.

    In feedback they stay one person of no name: how many were not content must not change.
    """
    counts: Counter[str] = Counter()
    nobody = f"forgotten-{uuid4().hex}"
    for request, alias in aliases.items():
        for name, change in _silenced(connection, traces, request, alias, nobody):
            counts[name] += (await connection.execute(change)).rowcount
    for some in chunks(traces.requests):
        waiting = delete(audits).where(audits.c.tenant == traces.tenant, audits.c.request_id.in_(some))
        waiting = waiting.where(audits.c.verdict == "open")
        counts["audits"] += (await connection.execute(waiting)).rowcount
        counts["audits"] += await _silence_audits(connection, traces.tenant, some, aliases)
    return counts


def _silenced(
    connection: AsyncConnection, traces: Traces, request: str, alias: str, nobody: str
) -> list[tuple[str, Update]]:
    of_outcome = (outcomes.c.tenant == traces.tenant, outcomes.c.request_id == request)
    own = or_(outcomes.c.asker_key == traces.key, outcomes.c.asker_key.is_(None))
    unsaid = {"question": None, "question_hash": "", "asker_key": None, "request_id": alias}
    of_feedback = (feedback.c.tenant == traces.tenant, feedback.c.request_id == request)
    own_feedback = of_asker(connection, feedback, traces.asker, [request])
    silent = {"comment": "", "asker": nobody, "request_id": alias}
    return [
        ("outcomes", update(outcomes).where(*of_outcome, own).values(unsaid)),
        ("feedback", update(feedback).where(*of_feedback, own_feedback).values(silent)),
    ]


async def _silence_audits(
    connection: AsyncConnection, tenant: str, requests: Sequence[str], aliases: Mapping[str, str]
) -> int:
    """The verdicts are evidence of the error bound; what was asked, said and written for them is not."""
    query = select(audits.c.id, audits.c.request_id, audits.c.tier)
    found = await connection.execute(
        query.where(audits.c.tenant == tenant, audits.c.request_id.in_(requests))
    )
    rows = found.all()
    for id_, request, tier in rows:
        silent: dict[str, str | None] = {"question": "", "comment": "", "request_id": aliases[request]}
        if tier == "rag":
            silent |= {"answer": "", "contexts": None, "topic": ""}
        await connection.execute(update(audits).where(audits.c.id == id_).values(silent))
    return len(rows)
