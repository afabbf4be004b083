"""Phrasings that people used: a reviewer makes them an entry's, or rejects them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from cache.store.suggestions import SuggestionState
from gateway.people.access import ReviewerDep
from gateway.rendering import rendered
from gateway.review.entries.editing import phrased
from gateway.routes.entries import Words
from gateway.routes.refusals import index_now, refusals_named
from gateway.routes.services import ServicesDep
from languages.identification import Language

__all__ = ["router"]

router = APIRouter(prefix="/v1/suggestions", tags=["suggestions"])


class DecisionBody(BaseModel):
    """What becomes of a suggestion."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["accepted", "rejected"]
    accept_collisions: bool = False


@router.get("")
async def suggestions(
    caller: ReviewerDep,
    services: ServicesDep,
    state: SuggestionState | None = None,
    entry: Words | None = None,
    language: Language | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, lt=2**63)] = 0,
) -> dict[str, Any]:
    """A page of suggestions, those that were asked most often first."""
    page = await services.approvals.suggestions.list(
        caller.tenant, state=state, entry_id=entry, language=language, limit=limit, offset=offset
    )
    return {"suggestions": [rendered(one) for one in page.suggestions], "total": page.total}


@router.post("/{suggestion_id}")
async def decide(
    suggestion_id: Words, body: DecisionBody, caller: ReviewerDep, services: ServicesDep
) -> dict[str, Any]:
    """Make it a phrasing of its entry, in a new revision, or reject it."""
    kept = services.approvals.suggestions
    approval = services.approvals.begin(accept_collisions=body.accept_collisions)
    with refusals_named():
        found = await kept.get(caller.tenant, suggestion_id)
        entry = await services.stores.entries.get(caller.tenant, found.entry_id)
        if body.state == "accepted" and found.state == "open":
            entry = await phrased(services.stores.entries, approval, entry, found.text, by=caller.label)
        decided = await kept.decide(caller.tenant, suggestion_id, body.state, by=caller.label)
    indexed, seen = await index_now(services), await approval.tell(entry, by=caller.label)
    return {
        "suggestion": rendered(decided),
        "entry": rendered(entry),
        "indexed": indexed,
        "review": seen,
    }
