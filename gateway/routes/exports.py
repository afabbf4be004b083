"""What was asked, judged and answered, as a file that is written while it is read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from gateway.exports import Exported, Period, lines
from gateway.people.access import AdminDep
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1/export", tags=["export"])

_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


@router.get("/{what}")
async def export(
    what: Exported,
    caller: AdminDep,
    services: ServicesDep,
    form: Literal["csv", "jsonl"] = "jsonl",
    since: date | None = None,
    until: date | None = None,
) -> StreamingResponse:
    """The tenant's rows from the first of these days to the last (UTC)."""
    written = lines(services.stores.database, what, caller.tenant, Period(since, until), form)
    first = await anext(written, "")  # an error is still a plain error here
    named = {"content-disposition": f'attachment; filename="{what}.{form}"'}
    return StreamingResponse(_all(first, written), media_type=_TYPES[form], headers=named)


async def _all(first: str, rest: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for line in rest:
        yield line
