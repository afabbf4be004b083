"""What the gate should have said: reviewers propose examples, an admin accepts them; and its canaries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.errors import InvalidRequest
from gateway.people.access import AdminDep, ReviewerDep
from gateway.rendering import rendered
from gateway.review.gate_examples import ExampleLabel, ExampleState, Proposal
from gateway.routes.entries import Words
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/gate", tags=["gate"])


class ProposalBody(BaseModel):
    """A question and what it should have been; the question of a ticket or an outcome, or a text."""

    model_config = ConfigDict(extra="forbid")

    label: ExampleLabel
    topic: Annotated[str, Field(max_length=40)] = ""  # of must_not
    text: Annotated[str | None, Field(min_length=1, max_length=8_000)] = None
    ticket: Annotated[str | None, Field(max_length=40)] = None
    request_id: Annotated[str | None, Field(max_length=64)] = None

    @model_validator(mode="after")
    def _one_origin(self) -> ProposalBody:
        if self.ticket and self.request_id:
            raise ValueError("give ticket or request_id, not both")
        if not (self.text or self.ticket or self.request_id):
            raise ValueError("give text, ticket or request_id")
        return self


class DecisionBody(BaseModel):
    """What becomes of an example."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["accepted", "rejected"]
    over_policy: bool = False  # although the policy has these words in another class


@router.get("/examples")
async def examples(
    caller: ReviewerDep,
    services: ServicesDep,
    state: ExampleState | None = None,
    label: ExampleLabel | None = None,
    ticket: Words | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, lt=2**63)] = 0,
) -> dict[str, Any]:
    """A page of examples, the newest first, and how the gate last learnt."""
    kept = services.gatekeeping
    page = await kept.examples.list(
        caller.tenant, state=state, label=label, ticket_id=ticket, limit=limit, offset=offset
    )
    lesson = kept.learning.lessons.get(caller.tenant) if kept.learning else None
    return {
        "examples": [rendered(one) for one in page.examples],
        "total": page.total,
        "lesson": lesson and {"state": lesson.state, "examples": lesson.examples, "reason": lesson.reason},
    }


@router.post("/examples", status_code=201)
async def propose(body: ProposalBody, caller: ReviewerDep, services: ServicesDep) -> Any:
    """Keep a candidate; the gate learns nothing before an admin accepts it."""
    kept = services.gatekeeping.examples
    said = Proposal(tenant=caller.tenant, label=body.label, topic=body.topic, by=caller.label)
    if body.ticket:
        found = await kept.propose_of_ticket(said, services.tickets, body.ticket, text=body.text)
    elif body.request_id:
        found = await kept.propose_of_request(said, body.request_id, text=body.text)
    else:
        found = await kept.propose(said, body.text or "")
    return rendered(found)


@router.post("/examples/{example_id}")
async def decide(example_id: Words, body: DecisionBody, caller: AdminDep, services: ServicesDep) -> Any:
    """Accept or reject; the gate is fitted again in the background."""
    kept = services.gatekeeping
    if body.state == "rejected":
        if body.over_policy:
            raise InvalidRequest(
                "over_policy: only what is accepted can be over the policy", param="over_policy"
            )
        found = await kept.examples.reject(caller.tenant, example_id, by=caller.label)
    else:
        found = await kept.examples.accept(
            caller.tenant, example_id, by=caller.label, over_policy=body.over_policy
        )
    if kept.learning:
        kept.learning.wake()
    return rendered(found)


@router.get("/canaries")
async def canaries(caller: ReviewerDep, services: ServicesDep) -> Any:
    """The last round of the questions that must always pass, with the gate of the caller's tenant."""
    reports = services.gatekeeping.canaries.reports
    return rendered(reports.get(caller.tenant, reports["default"]))
