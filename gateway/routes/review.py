"""Tickets: reviewers work on them, the asker polls his own."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from cache.entries import EntryKind
from gateway.access import ClientDep, ReviewerDep
from gateway.errors import NotFound
from gateway.language import Language
from gateway.review.promotion import Publication, answer_and_publish
from gateway.review.steps import rendered
from gateway.review.tickets import Ticket, TicketState
from gateway.routes.entries import Group, Phrasing, SourceBody, sources_of
from gateway.routes.refusals import index_now, refusals_named
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/tickets", tags=["tickets"])


class AnswerBody(BaseModel):
    """The answer to a ticket, and what its verified entry is to be if it is published."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[str, Field(min_length=1, max_length=50_000)]
    publish: bool = False
    accept_collisions: bool = False  # publish it although it would compete with another entry
    kind: EntryKind = "ground_truth"
    question: Phrasing | None = None  # how the entry asks; by default as the ticket does
    phrasings: Annotated[list[Phrasing], Field(max_length=200)] = []
    sources: Annotated[list[SourceBody] | None, Field(max_length=100)] = None  # by default the draft's
    group: Group | None = None  # who may read it; by default the asker's group
    language: Language | None = None


class DismissBody(BaseModel):
    """Why a ticket needs no answer."""

    model_config = ConfigDict(extra="forbid")

    comment: Annotated[str, Field(max_length=2_000)] = ""


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
    return {"tickets": [_whole(ticket) for ticket in page.tickets], "next": page.next}


@router.get("/{ticket_id}")
async def ticket(ticket_id: str, caller: ClientDep, services: ServicesDep) -> dict[str, Any]:
    """One ticket: the asker's side for a client, everything for a reviewer."""
    found = await services.tickets.get(ticket_id, tenant=caller.tenant)
    if not caller.may("reviewer"):
        if found.group not in ("", caller.group):
            raise NotFound(f"there is no ticket {found.id}")
        return _polled(found)
    events = await services.tickets.events(found.id, tenant=caller.tenant)
    return {**_whole(found), "events": [rendered(event) for event in events]}


@router.post("/{ticket_id}/claim")
async def claim(ticket_id: str, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """Take a ticket to work on it; 409 if another holds it."""
    return _whole(await services.tickets.claim(ticket_id, tenant=caller.tenant, by=caller.label))


@router.post("/{ticket_id}/release")
async def release(ticket_id: str, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """Give a claimed ticket back."""
    return _whole(await services.tickets.release(ticket_id, tenant=caller.tenant, by=caller.label))


@router.post("/{ticket_id}/dismiss")
async def dismiss(
    ticket_id: str, caller: ReviewerDep, services: ServicesDep, body: DismissBody | None = None
) -> dict[str, Any]:
    """Close a ticket without an answer."""
    comment = body.comment if body else ""
    return _whole(
        await services.tickets.dismiss(ticket_id, tenant=caller.tenant, by=caller.label, comment=comment)
    )


@router.post("/{ticket_id}/answer")
async def answer(
    ticket_id: str, body: AnswerBody, caller: ReviewerDep, services: ServicesDep
) -> dict[str, Any]:
    """Answer a ticket; published, the answer serves the next who asks."""
    if not body.publish:
        return _whole(
            await services.tickets.answer(
                ticket_id, tenant=caller.tenant, by=caller.label, answer=body.answer
            )
        )
    approval = services.approvals.begin(accept_collisions=body.accept_collisions)
    with refusals_named():
        answered, entry = await answer_and_publish(
            services.tickets,
            services.stores.entries,
            ticket_id,
            tenant=caller.tenant,
            by=caller.label,
            answer=body.answer,
            publication=_publication(body),
            check=approval.check,
        )
    indexed, seen = await index_now(services), await approval.tell(entry, by=caller.label)
    return {**_whole(answered), "entry": rendered(entry), "indexed": indexed, "review": seen}


def _publication(body: AnswerBody) -> Publication:
    return Publication(
        kind=body.kind,
        question=body.question,
        phrasings=tuple(body.phrasings),
        sources=None if body.sources is None else sources_of(body.sources),
        group=body.group,
        language=body.language,
    )


def _whole(found: Ticket) -> dict[str, Any]:
    shown = rendered(found)
    assert isinstance(shown, dict)  # noqa: S101 - for the type checker: a dataclass is an object
    return shown


def _polled(found: Ticket) -> dict[str, Any]:
    """What the asker may see: no reviewer's name, no draft."""
    shown = _whole(found)
    return {name: shown[name] for name in ("id", "state", "question", "answer", "created_at", "answered_at")}
