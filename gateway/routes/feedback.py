"""Thumbs up or down for an answer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.people.access import ClientDep
from gateway.review.feedback import Verdict
from gateway.routes.refusals import index_now
from gateway.routes.services import ServicesDep
from storage.texts import storable

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
    """Keep a thumbs up or down; `entry` is the verified entry that it counts for, `tickets` what opened.

    `known` is false where nothing is recorded under the id: a mistyped one, small talk, or long ago.
    """
    await services.telemetry.flush()  # an asker may be faster than the record
    kept = await services.desk.feedback.keep(
        tenant=caller.tenant,
        request_id=body.request_id,
        verdict=body.verdict,
        comment=body.comment,
        by=caller.label,
    )
    if kept.paused:
        await index_now(services)
    shown = {"request_id": body.request_id, "verdict": body.verdict, "entry": kept.entry_id}
    return {**shown, "known": kept.known, "tickets": list(kept.tickets)}
