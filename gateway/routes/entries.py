"""Verified entries: reviewers list, write, edit and retire them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cache.entries import Entry, EntryKind, EntryState, Source
from cache.store.content import (
    GROUP,
    LONGEST_ANSWER,
    LONGEST_DOCUMENT,
    LONGEST_PHRASING,
    MOST_PHRASINGS,
    MOST_SOURCES,
    Content,
    content_of,
)
from cache.store.queries import Filters
from cache.trial.collisions import Would
from gateway.assembly import Services
from gateway.people.access import ReviewerDep
from gateway.rendering import rendered
from gateway.review.entries.approval import Approval, collision_body, preview_body, would_be
from gateway.review.entries.editing import edited, moved
from gateway.routes.refusals import index_now, refusals_named
from gateway.routes.services import ServicesDep
from languages.identification import Language
from storage.texts import storable

__all__ = ["Answer", "Group", "Phrasing", "SourceBody", "router", "sources_of"]

router = APIRouter(prefix="/v1/entries", tags=["entries"])

Phrasing = Annotated[str, Field(min_length=1, max_length=LONGEST_PHRASING)]
Words = Annotated[str, AfterValidator(storable), Field(max_length=200)]  # asked for, in a path or a query
Group = Annotated[str, Field(pattern=f"^{GROUP.pattern}$")]
Answer = Annotated[str, Field(min_length=1, max_length=LONGEST_ANSWER)]
NOT_CONTENT = {"revision", "accept_collisions"}


class SourceBody(BaseModel):
    """A document that an answer was written from."""

    model_config = ConfigDict(extra="forbid")

    document: Annotated[str, Field(min_length=1, max_length=LONGEST_DOCUMENT)]
    version: Annotated[str, Field(max_length=64)] = ""


class EntryBody(BaseModel):
    """A new entry; its question is the first phrasing."""

    model_config = ConfigDict(extra="forbid")

    phrasings: Annotated[list[Phrasing], Field(min_length=1, max_length=MOST_PHRASINGS)]
    answer: Answer
    kind: EntryKind = "ground_truth"
    group: Group = ""  # who may read it; "" is everybody of the tenant
    language: Language | None = None  # by default that of the question
    state: Literal["draft", "active"] = "draft"
    accept_collisions: bool = False  # make it active although it would compete with another entry
    owner: Annotated[str, Field(max_length=200)] = ""
    sources: Annotated[list[SourceBody], Field(max_length=MOST_SOURCES)] = []
    valid_from: date | None = None
    valid_until: date | None = None
    review_by: date | None = None


class EditBody(BaseModel):
    """What changes; `revision` is the one that the editor read, so that nothing is overwritten unseen."""

    model_config = ConfigDict(extra="forbid")

    revision: Annotated[int, Field(ge=1)]
    accept_collisions: bool = False
    phrasings: Annotated[list[Phrasing], Field(min_length=1, max_length=MOST_PHRASINGS)] = []
    answer: Answer = ""
    kind: EntryKind = "ground_truth"
    group: Group = ""
    language: Language = "en"
    owner: Annotated[str, Field(max_length=200)] = ""
    sources: Annotated[list[SourceBody], Field(max_length=MOST_SOURCES)] = []
    valid_from: date | None = None
    valid_until: date | None = None
    review_by: date | None = None

    @model_validator(mode="after")
    def _something_changes(self) -> EditBody:
        if self.model_fields_set <= NOT_CONTENT:
            raise ValueError("give at least one field to change besides revision")
        return self


class StateBody(BaseModel):
    """The state to be; with `revision`, only if nobody changed the entry since."""

    model_config = ConfigDict(extra="forbid")

    state: EntryState
    revision: Annotated[int | None, Field(ge=1)] = None
    accept_collisions: bool = False


class PreviewBody(BaseModel):
    """An entry that is being written; `id` if it is to stand in the place of one that is there."""

    model_config = ConfigDict(extra="forbid")

    phrasings: Annotated[list[Phrasing], Field(min_length=1, max_length=200)]
    language: Language | None = None
    group: Group = ""
    id: Words = ""


@router.get("")
async def entries(
    caller: ReviewerDep,
    services: ServicesDep,
    state: EntryState | None = None,
    language: Language | None = None,
    kind: EntryKind | None = None,
    group: Group | None = None,
    owner: Words | None = None,
    search: Words | None = None,
    document: Annotated[str | None, Query(max_length=1024)] = None,
    review_before: date | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, lt=2**63)] = 0,
) -> dict[str, Any]:
    """A page of entries, the last changed first."""
    filters = Filters(
        state=state, language=language, kind=kind, group=group, owner=owner, search=search,
        document=document, review_before=review_before,
    )  # fmt: skip
    page = await services.stores.entries.list(caller.tenant, filters, limit=limit, offset=offset)
    return {"entries": [rendered(entry) for entry in page.entries], "total": page.total}


@router.post("", status_code=201)
async def create(body: EntryBody, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """A new entry, a draft unless it is to be active at once."""
    written = body.model_dump(exclude={"state", "sources", "accept_collisions"})
    content = Content(
        **written
        | {
            "phrasings": tuple(body.phrasings),
            "sources": sources_of(body.sources),
            "language": body.language or services.stores.language_of(body.phrasings[0]),
            "owner": body.owner or caller.label,
        }
    )
    approval = services.approvals.begin(accept_collisions=body.accept_collisions)
    with refusals_named():
        await approval.check(would_be(content, tenant=caller.tenant, state=body.state))
        entry = await services.stores.entries.create(
            caller.tenant, content, by=caller.label, state=body.state
        )
    return await _told(services, entry, approval, by=caller.label)


@router.post("/preview")
async def preview(body: PreviewBody, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """What an entry would compete with, whether its phrasings find it, what else people called it."""
    content = Content(
        kind="ground_truth",
        group=body.group,
        language=body.language or services.stores.language_of(body.phrasings[0]),
        phrasings=tuple(body.phrasings),
        answer="…",  # no answer is looked at
    )
    with refusals_named():
        entry = would_be(content, tenant=caller.tenant, entry_id=body.id)
    return preview_body(await services.approvals.preview(entry))


@router.get("/collisions")
async def all_collisions(
    caller: ReviewerDep,
    services: ServicesDep,
    language: Language | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """The pairs of entries that compete, the worst first, and how many there are of each kind."""
    found = await services.stores.collisions(caller.tenant, language=language)
    counts = Counter(one.would for one in found)
    return {
        "collisions": [collision_body(one) for one in found[:limit]],
        "counts": {would: counts[would] for would in get_args(Would)},
    }


@router.get("/{entry_id}")
async def entry(entry_id: Words, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """One entry."""
    with refusals_named():
        return {"entry": rendered(await services.stores.entries.get(caller.tenant, entry_id))}


@router.get("/{entry_id}/history")
async def history(entry_id: Words, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """Every change, the first one first, each with the entry as it was after it."""
    with refusals_named():
        changes = await services.stores.entries.history(caller.tenant, entry_id)
    return {"history": [rendered(change) for change in changes]}


@router.get("/{entry_id}/collisions")
async def collisions(entry_id: Words, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """A kept entry, looked at as `preview` does, whatever its state."""
    with refusals_named():
        kept = await services.stores.entries.get(caller.tenant, entry_id)
    return preview_body(await services.approvals.preview(kept))


@router.patch("/{entry_id}")
async def edit(entry_id: Words, body: EditBody, caller: ReviewerDep, services: ServicesDep) -> dict[str, Any]:
    """Change what an entry says; 409 if somebody else did so since it was read."""
    approval = services.approvals.begin(accept_collisions=body.accept_collisions)
    with refusals_named():
        before = await services.stores.entries.get(caller.tenant, entry_id)
        after = await edited(
            services.stores.entries,
            approval,
            before,
            _edited(before, body),
            revision=body.revision,
            by=caller.label,
        )
    return await _told(services, after, approval, by=caller.label)


@router.post("/{entry_id}/state")
async def change_state(
    entry_id: Words, body: StateBody, caller: ReviewerDep, services: ServicesDep
) -> dict[str, Any]:
    """Activate, pause, outdate, retire or reopen an entry. A stale one that is activated was read again."""
    approval = services.approvals.begin(accept_collisions=body.accept_collisions)
    with refusals_named():
        before = await services.stores.entries.get(caller.tenant, entry_id)
        after = await moved(
            services.stores.entries,
            services.tickets,
            approval,
            before,
            body.state,
            revision=body.revision or before.revision,
            by=caller.label,
        )
    return await _told(services, after, approval, by=caller.label)


async def _told(services: Services, entry: Entry, approval: Approval, *, by: str) -> dict[str, Any]:
    """An entry that was kept, and what its reviewer should know."""
    indexed, seen = await index_now(services), await approval.tell(entry, by=by)
    return {"entry": rendered(entry), "indexed": indexed, "review": seen}


def sources_of(bodies: Sequence[SourceBody]) -> tuple[Source, ...]:
    """The sources that a body names."""
    return tuple(Source(body.document, body.version) for body in bodies)


def _edited(before: Entry, body: EditBody) -> Content:
    """What people wrote, with the given fields changed; a null date is taken away."""
    changed: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set - NOT_CONTENT}
    if "phrasings" in changed:
        changed["phrasings"] = tuple(body.phrasings)
    if "sources" in changed:
        changed["sources"] = sources_of(body.sources)
    return replace(content_of(before), **changed)
