"""Our own contract: everything we know about an outcome."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Self

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from gateway.assembly import Services
from gateway.domain import Conversation
from gateway.people.access import Caller, ClientDep
from gateway.routes.decision import answer_body, headers
from gateway.routes.messages import Message, conversation
from gateway.routes.services import ServicesDep
from gateway.routes.waiting import whole_reply
from storage.texts import storable

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["answers"])


class AcceptBody(BaseModel):
    """An entry that was offered (`did_you_mean`) in reply to the request with this `x-request-id`."""

    model_config = ConfigDict(extra="forbid")

    entry: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(storable)]
    request_id: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(storable)]


class AnswerRequest(BaseModel):
    """A question by itself, a conversation that ends with one, or a yes to what was offered."""

    model_config = ConfigDict(extra="forbid")

    question: str | None = None
    messages: list[Message] | None = None
    accept: AcceptBody | None = None
    user: Annotated[str | None, Field(max_length=200)] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if sum(given is not None for given in (self.question, self.messages, self.accept)) != 1:
            raise ValueError("give either question or messages, or accept")
        return self


@router.post("/answers")
async def answers(
    body: AnswerRequest, request: Request, caller: ClientDep, services: ServicesDep
) -> Response:
    """Answer a question, refuse it, or pass it to a person, and say everything about it."""
    if body.accept is not None:
        return await _accepted(body.accept, body.user, request.state.request_id, caller, services)
    asked = conversation(
        body.messages or [Message(role="user", content=body.question)],
        tenant=caller.tenant,
        group=caller.group,
        request_id=request.state.request_id,
        limits=services.settings.server,
        front_end_tasks=services.settings.understanding.front_end_tasks,
        asker=body.user,
        question=None if body.question is None else "question",
    )
    reply = await whole_reply(services, asked, request)
    return JSONResponse(answer_body(reply, asked.request_id), headers=headers(reply))


async def _accepted(
    body: AcceptBody, user: str | None, request_id: str, caller: Caller, services: Services
) -> Response:
    started = perf_counter()
    asker = Conversation(
        turns=(), tenant=caller.tenant, group=caller.group, request_id=request_id, asker=user
    )
    reply = await services.acceptances.accept(
        asker, request_id=body.request_id, entry_id=body.entry, by=caller.label
    )
    for outcome in reply.outcomes:
        services.telemetry.outcome(outcome, ms=(perf_counter() - started) * 1000)
    return JSONResponse(answer_body(reply, request_id), headers=headers(reply))
