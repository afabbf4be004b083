"""Audited hits: reviewers judge them, and read what their verdicts add up to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from gateway.people.access import ReviewerDep
from gateway.rendering import rendered
from gateway.review.audits import AuditVerdict, Judgement, pause_if_wrong
from gateway.routes.refusals import index_now, refusals_named
from gateway.routes.services import ServicesDep
from languages.identification import Language

__all__ = ["router"]

router = APIRouter(prefix="/v1/audits", tags=["audits"])


class JudgementBody(BaseModel):
    """Whether the answer was right for the question."""

    model_config = ConfigDict(extra="forbid")

    verdict: Judgement
    faithful: bool | None = None  # of a wrong answer by RAG: its contexts say the same
    comment: Annotated[str, Field(max_length=2_000)] = ""
    pause: bool | None = None  # the entry of a wrong answer; by default after exact hits


@router.get("")
async def audits(
    caller: ReviewerDep,
    services: ServicesDep,
    verdict: AuditVerdict | None = None,
    language: Language | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """A page of audits, the oldest first; `next` is the `after` of the next page."""
    page = await services.audits.list(
        tenant=caller.tenant, verdict=verdict, language=language, limit=limit, after=after
    )
    return {"audits": [rendered(audit) for audit in page.items], "next": page.next}


@router.get("/bound")
async def bound(caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """How many wrong answers go out at most, shelf by shelf."""
    return {"shelves": rendered(await services.audits.reports(tenant=caller.tenant))}


@router.post("/{audit_id}")
async def judge(
    audit_id: str, body: JudgementBody, caller: ReviewerDep, services: ServicesDep
) -> dict[str, Any]:
    """Judge a hit; 409 if another did. Too many wrong ones raise the cut of the shelf."""
    judged = await services.audits.judge(
        audit_id, tenant=caller.tenant, verdict=body.verdict, faithful=body.faithful,
        comment=body.comment, by=caller.label,
    )  # fmt: skip
    with refusals_named():
        paused = await pause_if_wrong(services.stores.entries, judged, asked=body.pause, by=caller.label)
    if paused:
        await index_now(services)
    return {"audit": rendered(judged), "entry_paused": paused}
