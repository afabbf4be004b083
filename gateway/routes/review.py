"""Tickets: reviewers work on them, the asker polls their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from cache.entries import EntryKind
from cache.store.content import MOST_PHRASINGS, MOST_SOURCES
from gateway.errors import NotFound
from gateway.people.access import ClientDep, ReviewerDep
from gateway.rendering import rendered, rendered_object
from gateway.review.closing import Closed, Review
from gateway.review.closing.promotion import Publication
from gateway.review.gate_examples import ExampleLabel
from gateway.review.tickets import Ticket, TicketState
from gateway.routes.entries import Answer, Group, Phrasing, SourceBody, sources_of
from gateway.routes.refusals import index_now, refusals_named
from gateway.routes.services import ServicesDep
from languages.identification import Language

__all__ = ["router"]

router = APIRouter(prefix="/v1/tickets", tags=["tickets"])


class ReviewBody(BaseModel):
    """What a reviewer says of a ticket besides its answer."""

    model_config = ConfigDict(extra="forbid")

    gate: ExampleLabel | None = None  # what the question should have been: proposed as the gate's example
    topic: Annotated[str, Field(max_length=40)] = ""  # of must_not
    faithful: bool | None = None  # whether the draft was supported by its passages
    comment: Annotated[str, Field(max_length=2_000)] = ""


class AnswerBody(ReviewBody):
    """The answer to a ticket, and what its verified entry is to be if it is published."""

    answer: Answer
    revision: Annotated[int | None, Field(ge=1)] = None  # of the ticket, as the reviewer read it
    publish: bool = False
    accept_collisions: bool = False  # publish it although it would compete with another entry
    kind: EntryKind = "ground_truth"
    question: Phrasing | None = None  # how the entry asks; by default as the ticket does
    phrasings: Annotated[list[Phrasing], Field(max_length=MOST_PHRASINGS)] = []
    sources: Annotated[list[SourceBody] | None, Field(max_length=MOST_SOURCES)] = None  # else the draft's
    group: Group | None = None  # who may read it; by default the asker's group
    language: Language | None = None


@router.get("")
async def tickets(
    caller: ReviewerDep,
    services: ServicesDep,
    state: TicketState | None = None,
    language: Language | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """A page of tickets, the oldest first; `next` is the `after` of the next page."""
    page = await services.tickets.list(
        tenant=caller.tenant, state=state, language=language, limit=limit, after=after
    )
    return {"tickets": [rendered_object(ticket) for ticket in page.items], "next": page.next}


@router.get("/{ticket_id}")
async def ticket(ticket_id: str, caller: ClientDep, services: ServicesDep) -> dict[str, Any]:
    """One ticket: the asker's side for a client, everything for a reviewer."""
    found = await services.tickets.get(ticket_id, tenant=caller.tenant)
    if not caller.may("reviewer"):
        if found.group not in ("", caller.group):
            raise NotFound(f"there is no ticket {found.id}")
        return _polled(found)
    events = await services.tickets.events(found.id, tenant=caller.tenant)
    return {**rendered_object(found), "events": [rendered(event) for event in events]}


@router.post("/{ticket_id}/claim")
async def claim(ticket_id: str, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """Take a ticket to work on it; 409 if another holds it."""
    return rendered_object(await services.tickets.claim(ticket_id, tenant=caller.tenant, by=caller.label))


@router.post("/{ticket_id}/release")
async def release(ticket_id: str, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """Give a claimed ticket back; an admin may do it for whoever holds it."""
    released = services.tickets.release(
        ticket_id, tenant=caller.tenant, by=caller.label, as_admin=caller.may("admin")
    )
    return rendered_object(await released)


@router.post("/{ticket_id}/dismiss")
async def dismiss(
    ticket_id: str, caller: ReviewerDep, services: ServicesDep, body: ReviewBody | None = None
) -> dict[str, Any]:
    """Close a ticket without an answer: it is not ours, forbidden, or needs none."""
    said = _review(body) if body else Review()
    closed = await services.desk.closing.close(ticket_id, said, tenant=caller.tenant, by=caller.label)
    return _closed(closed)


@router.post("/{ticket_id}/answer")
async def answer(
    ticket_id: str, body: AnswerBody, caller: ReviewerDep, services: ServicesDep
) -> dict[str, Any]:
    """Answer a ticket; published, the answer serves the next who asks.

    409 if another holds it, or a source of its entry changed since `revision`.
    """
    said = replace(
        _review(body),
        answer=body.answer,
        publication=_publication(body) if body.publish else None,
        revision=body.revision,
    )
    approval = services.approvals.begin(accept_collisions=body.accept_collisions)
    with refusals_named():
        closed = await services.desk.closing.close(
            ticket_id, said, tenant=caller.tenant, by=caller.label, check=approval.check
        )
    if closed.entry is None:
        return _closed(closed)
    indexed, seen = await index_now(services), await approval.tell(closed.entry, by=caller.label)
    return {**_closed(closed), "entry": rendered(closed.entry), "indexed": indexed, "review": seen}


def _review(body: ReviewBody) -> Review:
    return Review(gate=body.gate, topic=body.topic, faithful=body.faithful, comment=body.comment)


def _closed(closed: Closed) -> dict[str, Any]:
    return {**rendered_object(closed.ticket), "example": rendered(closed.example)}


def _publication(body: AnswerBody) -> Publication:
    return Publication(
        kind=body.kind,
        question=body.question,
        phrasings=tuple(body.phrasings),
        sources=None if body.sources is None else sources_of(body.sources),
        group=body.group,
        language=body.language,
    )


def _polled(found: Ticket) -> dict[str, Any]:
    """What the asker may see: no reviewer's name, no draft."""
    shown = rendered_object(found)
    return {name: shown[name] for name in ("id", "state", "question", "answer", "created_at", "answered_at")}
