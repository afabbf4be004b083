"""Documents that are kept elsewhere: whoever keeps them says when one changed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.documents.ingestion import DocumentChange
from gateway.people.access import AdminDep
from gateway.review.entries.rereview import outdate_and_ask
from gateway.routes.refusals import index_now
from gateway.routes.services import ServicesDep
from storage.texts import storable

__all__ = ["router"]

router = APIRouter(prefix="/v1/documents", tags=["documents"])


class ChangedBody(BaseModel):
    """A document, as entries name it among their sources, and its present version; null if it is gone."""

    model_config = ConfigDict(extra="forbid")

    document: Annotated[str, Field(min_length=1, max_length=1024), AfterValidator(storable)]
    version: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(storable)] | None


@router.post("/changed")
async def changed(body: ChangedBody, caller: AdminDep, services: ServicesDep) -> dict[str, Any]:
    """Entries of the caller's tenant from another version are served no more, and wait for a reviewer."""
    change = DocumentChange(document=body.document, version=body.version)
    async with services.stores.database.begin() as connection:
        outdated = await outdate_and_ask(connection, [change], tenant=caller.tenant, by=caller.label)
    return {"stale": [one.entry.id for one in outdated], "indexed": await index_now(services)}
