"""Rows that go, and rows that stay without the words: tickets, answers, outcomes, feedback, audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Table, bindparam, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.retention.traces import Left, Traces, chunks, disputes, of_asker, of_requests, recorded
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


async def delete_answers(connection: AsyncConnection, left: Left) -> int:
    """What they were answered in the last days."""
    gone = delete(answers).where(*of_asker(connection, answers, left))
    return (await connection.execute(gone)).rowcount


async def delete_tickets(connection: AsyncConnection, ids: Sequence[str]) -> Counter[str]:
    """Tickets with their events, what was to be delivered of them, and the labels of their drafts.

    A notice to reviewers may still name them: it holds counts and numbers, no word of an asker.
    """
    counts: Counter[str] = Counter()
    for some in chunks(ids):
        for table in (ticket_events, deliveries, draft_labels):
            gone = await connection.execute(delete(table).where(table.c.ticket_id.in_(some)))
            counts[table.name] += gone.rowcount
        # By their requests: no index knows the outcomes of a ticket.
        asked = select(tickets.c.request_id).where(tickets.c.id.in_(some))
        named = update(outcomes).where(outcomes.c.request_id.in_(asked), outcomes.c.ticket_id.in_(some))
        await connection.execute(named.values(ticket_id=None))
        gone = await connection.execute(delete(tickets).where(tickets.c.id.in_(some)))
        counts["tickets"] += gone.rowcount
    return counts


async def redact_disputes(connection: AsyncConnection, traces: Traces) -> int:
    """What they said of an answer may stand on the ticket of another who asked the same."""
    left, changed = traces.left, 0
    known = [event for request in left.requests for event in left.disputes.get(request, ())]
    which = or_(ticket_events.c.id.in_(known), ticket_events.c.id > left.last_event)
    for id_, ticket_id, detail in (await connection.execute(disputes(left.tenant).where(which))).all():
        alias = left.requests.get(detail.get("request_id", ""))
        if alias is not None and ticket_id not in traces.tickets:
            silent = {**detail, "request_id": alias, "comment": ""}
            this = update(ticket_events).where(ticket_events.c.id == id_)
            await connection.execute(this.values(detail=silent))
            changed += 1
    return changed


async def close_requests(connection: AsyncConnection, left: Left) -> Counter[str]:
    """Outcomes, verdicts and judged audits stay to be counted, under a request that nobody knows.

    In feedback they stay one person of no name: how many were not content must not change.
    """
    counts: Counter[str] = Counter()
    unsaid = {"question": None, "question_hash": "", "asker_key": None}
    counts["outcomes"] = await _silenced(connection, outcomes, left, recorded(left), unsaid)
    given, silent = of_asker(connection, feedback, left), {"comment": "", "asker": left.nobody}
    counts["feedback"] = await _silenced(connection, feedback, left, given, silent)
    sampled = of_requests(audits, left)
    waiting = delete(audits).where(*sampled, audits.c.verdict == "open")
    counts["audits"] = (await connection.execute(waiting)).rowcount
    # The verdicts are evidence of the error bound; what was asked, said and written for them is not.
    written = update(audits).where(*sampled, audits.c.tier == "rag")
    await connection.execute(written.values(answer="", contexts=None, topic=""))
    counts["audits"] += await _silenced(connection, audits, left, sampled, {"question": "", "comment": ""})
    return counts


async def _silenced(
    connection: AsyncConnection,
    table: Table,
    left: Left,
    which: Iterable[ColumnElement[bool]],
    values: Mapping[str, str | None],
) -> int:
    """Rows that stay with these values, under the new names of their requests; how many they are."""
    query = select(table.c.id, table.c.request_id).where(*which)
    rows = (await connection.execute(query)).all()
    renamed = update(table).where(table.c.id == bindparam("row"))
    renamed = renamed.values({**values, "request_id": bindparam("alias")})
    if rows:
        named = [{"row": id_, "alias": left.requests[request]} for id_, request in rows]
        await connection.execute(renamed, named)
    return len(rows)
