"""Thumbs up or down for an answer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.access import ClientDep
from gateway.review.feedback import Verdict, keep_feedback
from gateway.review.steps import storable
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["feedback"])


class FeedbackBody(BaseModel):
    """What an asker thought of the answer with this `x-request-id`."""

    model_config = ConfigDict(extra="forbid")

    request_id: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(storable)]
    verdict: Verdict
    comment: Annotated[str, Field(max_length=2_000)] = ""


@router.post("/feedback", status_code=201)
async def feedback(body: FeedbackBody, caller: ClientDep, services: ServicesDep) -> dict[str, Any]:
    """Keep a thumbs up or down; `entry` is the verified entry that it counts for."""
    entry_id = await keep_feedback(
        services.stores.database,
        tenant=caller.tenant,
        request_id=body.request_id,
        verdict=body.verdict,
        comment=body.comment,
        by=caller.label,
    )
    return {"request_id": body.request_id, "verdict": body.verdict, "entry": entry_id}
