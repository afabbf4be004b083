"""One stage at a time, for those who only want its verdict: gate, cache, faithfulness."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from encoders import encode_one
from gateway.checking import checked_within
from gateway.people.access import ClientDep
from gateway.rendering import Json, rendered
from gateway.routes.messages import check_readable
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["checks"])

LONGEST_QUESTION, LONGEST_ANSWER, LONGEST_CONTEXT = 8_000, 50_000, 100_000
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]


class GateRequest(BaseModel):
    """A self-contained question."""

    model_config = ConfigDict(extra="forbid")

    question: Text


class LookupRequest(GateRequest):
    """A self-contained question, on the shelf of a language (its own by default)."""

    language: Annotated[str | None, Field(pattern="^(en|ja|zh)$")] = None


class FaithfulnessRequest(BaseModel):
    """An answer and what it was written from."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[str, Field(max_length=LONGEST_ANSWER)]
    contexts: Annotated[list[Annotated[str, Field(max_length=LONGEST_CONTEXT)]], Field(max_length=100)]
    question: Annotated[str | None, Field(max_length=LONGEST_QUESTION)] = None


@router.post("/gate")
async def gate(body: GateRequest, caller: ClientDep, services: ServicesDep) -> Json:
    """Judge a question: must, may, must_not or unsure."""
    check_readable(body.question, longest=LONGEST_QUESTION, param="question")
    encoded = await encode_one(services.stores.encoder, body.question)
    return rendered(await services.gatekeeping.gate.judge(encoded, tenant=caller.tenant, group=caller.group))


@router.post("/cache/lookup")
async def lookup(body: LookupRequest, caller: ClientDep, services: ServicesDep) -> Json:
    """Look for a verified answer: a hit, a near miss or a miss."""
    check_readable(body.question, longest=LONGEST_QUESTION, param="question")
    encoded = await encode_one(services.stores.encoder, body.question)
    language = body.language or services.stores.language_of(body.question)
    return rendered(
        await services.stores.shelf.find(encoded, tenant=caller.tenant, group=caller.group, language=language)
    )


@router.post("/faithfulness")
async def faithfulness(body: FaithfulnessRequest, caller: ClientDep, services: ServicesDep) -> Json:
    """Judge every statement of an answer against its contexts."""
    check_readable(body.answer, longest=LONGEST_ANSWER, param="answer")
    check_readable(body.question or "", longest=LONGEST_QUESTION, param="question")
    for number, context in enumerate(body.contexts):
        check_readable(context, longest=LONGEST_CONTEXT, param=f"contexts[{number}]")
    patience_s = services.settings.faithfulness.patience_s
    return rendered(
        await checked_within(patience_s, services.judge, body.answer, body.contexts, question=body.question)
    )
