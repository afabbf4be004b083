"""Forgetting an asker, and the lines that say who was forgotten when."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from gateway.people.access import AdminDep
from gateway.rendering import rendered_object
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["askers"])


@router.delete("/askers/{asker:path}")
async def forget(asker: str, caller: AdminDep, services: ServicesDep) -> dict[str, Any]:
    """Delete what an asker left here; `entries` are those that are asked for in their words."""
    await services.telemetry.flush()
    return rendered_object(await services.erasures.forget(asker, tenant=caller.tenant, by=caller.label))


@router.get("/erasures")
async def erasures(
    caller: AdminDep, services: ServicesDep, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> dict[str, Any]:
    """What was deleted, by asker or by age, the newest first."""
    kept = await services.erasures.list(caller.tenant, limit=limit)
    return {"erasures": [rendered_object(one) for one in kept]}
