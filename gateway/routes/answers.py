"""Our own contract: everything we know about an outcome."""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.access import ClientDep
from gateway.domain import Outcome
from gateway.review.steps import to_json
from gateway.routes.decision import decision, faithfulness_of, headers
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
async def answers(body: AnswerRequest, request: Request, caller: ClientDep, services: ServicesDep) -> Response:
    """Answer a question, refuse it, or pass it to a person, and say everything about it."""
    asked = conversation(
        body.messages or [Message(role="user", content=body.question)],
        tenant=caller.tenant,
        request_id=request.state.request_id,
        limits=services.settings.server,
        asker=body.user,
    )
    reply = await services.pipeline.answer(asked)
    content = {
        "id": asked.request_id,
        **decision(reply),
        "text": reply.text,
        "language": reply.language,
        "questions": [_outcome(outcome) for outcome in reply.outcomes],
    }
    return JSONResponse(content, headers=headers(reply))


def _outcome(outcome: Outcome) -> dict[str, Any]:
    """One question with each stage's verdict and time."""
    return {
        "question": outcome.question.text,
        "language": outcome.question.language,
        "self_contained": outcome.question.self_contained,
        "outcome": outcome.name,
        "reason": outcome.reason,
        "text": outcome.text,
        "faithfulness": faithfulness_of((outcome,)),
        "ticket": getattr(outcome, "ticket", None),
        "entry": getattr(outcome, "entry", None),
        "steps": [
            {"stage": step.stage, "ms": round(step.ms, 3), "found": to_json(step.found)} for step in outcome.steps
        ],
    }
