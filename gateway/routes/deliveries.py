"""What was sent out, what waits, and what could not be delivered."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from gateway.delivery.outbox import DeliveryState
from gateway.people.access import AdminDep, ReviewerDep
from gateway.rendering import rendered_object
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/deliveries", tags=["deliveries"])


@router.get("")
async def deliveries(
    caller: ReviewerDep,
    services: ServicesDep,
    state: DeliveryState | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """A page of deliveries, the oldest first; `state=dead` are the dead letters."""
    page = await services.desk.outbox.list(tenant=caller.tenant, state=state, limit=limit, after=after)
    return {"deliveries": [rendered_object(one) for one in page.items], "next": page.next}


@router.post("/resend")
async def resend_all(caller: AdminDep, services: ServicesDep) -> dict[str, int]:
    """Begin again with all dead letters, each under its id."""
    return {"resent": await services.desk.outbox.resend_all(tenant=caller.tenant)}


@router.post("/{delivery_id}/resend")
async def resend(delivery_id: str, caller: AdminDep, services: ServicesDep) -> dict[str, Any]:
    """Begin again with a dead letter, under the same id."""
    return rendered_object(await services.desk.outbox.resend(delivery_id, tenant=caller.tenant))
