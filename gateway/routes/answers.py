"""Our own contract: everything we know about an outcome."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.access import ClientDep
from gateway.decision import answer_body, headers
from gateway.routes.messages import Message, conversation
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["answers"])


class AnswerRequest(BaseModel):
    """A question by itself, or a conversation that ends with one."""

    model_config = ConfigDict(extra="forbid")

    question: str | None = None
    messages: list[Message] | None = None
    user: Annotated[str | None, Field(max_length=200)] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.question is None) == (self.messages is None):
            raise ValueError("give either question or messages")
        return self


@router.post("/answers")
async def answers(
    body: AnswerRequest, request: Request, caller: ClientDep, services: ServicesDep
) -> Response:
    """Answer a question, refuse it, or pass it to a person, and say everything about it."""
    asked = conversation(
        body.messages or [Message(role="user", content=body.question)],
        tenant=caller.tenant,
        group=caller.group,
        request_id=request.state.request_id,
        limits=services.settings.server,
        asker=body.user,
    )
    reply = await services.pipeline.answer(asked)
    return JSONResponse(answer_body(reply, asked.request_id), headers=headers(reply))
