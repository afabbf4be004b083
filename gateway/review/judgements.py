"""What a reviewer says of a ticket that stays open: that the gate was wrong, or the draft was fine.

Each decision teaches something: the gate gets a candidate example, the faithfulness judge a labelled draft.
It can be taken back by whoever made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.store.queries import changing
from gateway.database import reading, writing
from gateway.errors import InvalidRequest
from gateway.review.gate_examples import GateExample, GateExamples, Proposal
from gateway.review.tickets import Ticket, Tickets, record_event
from storage.schema import draft_labels
from storage.sql import Database

__all__ = ["DraftLabel", "Drafted", "Judgements", "draft_of", "drafted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """What RAG answered before it was stopped."""

    text: str
    contexts: tuple[Mapping[str, Any], ...]
    statements: tuple[Mapping[str, Any], ...]  # with the judge's verdicts; none where it did not check


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLabel:
    """Whether a person found a draft supported by its contexts; a case of `sekisho evaluate faithfulness`."""

    ticket_id: str
    language: str
    question: str
    answer: str
    contexts: tuple[str, ...]
    faithful: bool
    by: str
    at: datetime


class Judgements:
    """Decisions on tickets, of all tenants."""

    def __init__(self, db: Database, tickets: Tickets, examples: GateExamples) -> None:
        self._db = db
        self._tickets = tickets
        self._examples = examples

    async def gate_was_wrong(self, ticket_id: str, *, tenant: str, by: str) -> GateExample:
        """The question is ours, and the gate should not have doubted it; the ticket still wants an answer."""
        said = Proposal(tenant=tenant, label="must", by=by)
        return await self._examples.propose_of_ticket(said, self._tickets, ticket_id)

    async def gate_was_right(self, ticket_id: str, *, tenant: str, by: str) -> None:
        """Take that back."""
        ticket = await self._tickets.get(ticket_id, tenant=tenant)
        async with changing(self._db, tenant) as connection:
            await self._examples.withdraw_within(connection, tenant, ticket.id, by=by)

    async def proposed(self, ticket_id: str, *, tenant: str) -> GateExample | None:
        """What stands proposed or accepted of a ticket."""
        page = await self._examples.list(tenant, ticket_id=ticket_id, limit=5)
        return next((one for one in page.examples if one.state != "rejected"), None)

    async def label_draft(self, ticket_id: str, *, tenant: str, by: str, faithful: bool) -> None:
        """Whether the draft was supported by its passages; a second label takes the first one's place.

        Raises:
            InvalidRequest: if there was no draft.
        """
        ticket = await self._tickets.get(ticket_id, tenant=tenant)
        async with writing(self._db, "labels") as connection:
            await self.label_within(connection, ticket, faithful=faithful, by=by)

    async def label_within(
        self, connection: AsyncConnection, ticket: Ticket, *, faithful: bool, by: str
    ) -> None:
        """Label a draft in a transaction that changes other things, too."""
        draft = draft_of(ticket)
        row = {
            "ticket_id": ticket.id,
            "tenant": ticket.tenant,
            "language": ticket.language,
            "question": ticket.question,
            "answer": draft.text,
            "contexts": [passage["text"] for passage in draft.contexts],
            "faithful": faithful,
            "by": by,
            "at": datetime.now(UTC),
        }
        await connection.execute(delete(draft_labels).where(draft_labels.c.ticket_id == ticket.id))
        await connection.execute(insert(draft_labels).values(row))
        await record_event(connection, ticket.id, "draft_labelled", by=by, detail={"faithful": faithful})

    async def unlabel_draft(self, ticket_id: str, *, tenant: str, by: str) -> None:
        """Take one's own label back; a repeat, or after another's label took its place, changes nothing."""
        ticket = await self._tickets.get(ticket_id, tenant=tenant)
        async with writing(self._db, "labels") as connection:
            gone = delete(draft_labels).where(draft_labels.c.ticket_id == ticket.id, draft_labels.c.by == by)
            if (await connection.execute(gone)).rowcount:
                await record_event(connection, ticket.id, "draft_label_removed", by=by, detail={})

    async def labels(self, tenant: str, *, ticket_id: str | None = None) -> tuple[DraftLabel, ...]:
        """The labels of a tenant, the oldest first."""
        names = DraftLabel.__dataclass_fields__
        query = select(*(draft_labels.c[name] for name in names)).where(draft_labels.c.tenant == tenant)
        if ticket_id is not None:
            query = query.where(draft_labels.c.ticket_id == ticket_id)
        async with reading(self._db, "labels") as connection:
            rows = (await connection.execute(query.order_by(draft_labels.c.at))).mappings().all()
        return tuple(DraftLabel(**row | {"contexts": tuple(row["contexts"])}) for row in map(dict, rows))


def draft_of(ticket: Ticket) -> Drafted:
    """The draft that a reviewer labels. Raises `InvalidRequest` if there was none."""
    draft = drafted(ticket)
    if draft is None:
        raise InvalidRequest(f"faithful: ticket {ticket.id} has no draft to label", param="faithful")
    return draft


def drafted(ticket: Ticket) -> Drafted | None:
    """The draft inside a ticket, with what the judge said of its statements; None if there was none."""
    found = {step["stage"]: step["found"] for step in ticket.steps if "stage" in step}
    draft = found.get("rag") or {}
    if draft.get("type") != "draft":
        return None
    checked = found.get("faithfulness") or {}
    return Drafted(
        text=draft["text"],
        contexts=tuple(draft["contexts"]),
        statements=tuple(checked.get("statements") or ()),
    )
