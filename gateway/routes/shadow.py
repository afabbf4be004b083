"""What rules in shadow mode would have done, for those who decide whether to enforce them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from gateway.gatekeeping.shadow import shadow_report
from gateway.people.access import ReviewerDep
from gateway.rendering import Json, rendered
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/gate", tags=["gate"])


@router.get("/shadow")
async def shadow(
    caller: ReviewerDep,
    services: ServicesDep,
    rule: Annotated[str | None, Query(max_length=60)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Json:
    """Counts by rule and class, and the newest questions."""
    return rendered(
        await shadow_report(services.stores.database, tenant=caller.tenant, rule=rule, limit=limit)
    )
