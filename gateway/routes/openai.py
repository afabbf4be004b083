"""OpenAI's chat contract in front of the checkpoint, whole or as a stream that waits for the verdict."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from time import time
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from gateway.access import ClientDep
from gateway.decision import decision, headers, is_filtered
from gateway.domain import Reply
from gateway.envelope import envelope
from gateway.errors import InvalidRequest, SekishoError
from gateway.routes.messages import Message, conversation
from gateway.routes.services import ServicesDep

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "sekisho"
_LONGEST_ANSWER_S = 600.0  # at the end of the process, too: who waits for a verdict gets it
_PIECES = re.compile(r"\S*\s*|.", re.DOTALL)
_FOR_THE_CHATBOT = (
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop",
    "presence_penalty", "frequency_penalty", "user",
)  # fmt: skip


class ChatRequest(BaseModel):
    """OpenAI's body. What we can't do is refused by name, what is harmless goes to the chatbot."""

    messages: Annotated[list[Message], Field(min_length=1)]
    model: str = MODEL
    stream: bool = False
    n: int | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    user: str | None = Field(None, max_length=200)
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None

    def refuse_what_cannot_be_checked(self) -> None:
        """Several choices and tool calls would need a verdict each."""
        if self.n not in (None, 1):
            raise InvalidRequest("only one choice can be asked for (n: 1)", param="n")
        for name in ("tools", "functions"):
            if getattr(self, name):
                raise InvalidRequest("tool calls can't be checked and are not supported", param=name)

    def options(self) -> dict[str, Any]:
        """What the chatbot may be told."""
        return self.model_dump(include=set(_FOR_THE_CHATBOT), exclude_none=True)


@router.post("/chat/completions")
async def chat(body: ChatRequest, request: Request, caller: ClientDep, services: ServicesDep) -> Response:
    """Answer a question, refuse it, or pass it to a person."""
    body.refuse_what_cannot_be_checked()
    server = services.settings.server
    asked = conversation(
        body.messages,
        tenant=caller.tenant,
        group=caller.group,
        request_id=request.state.request_id,
        limits=server,
        asker=body.user,
        options=body.options(),
    )
    answering = asyncio.create_task(services.pipeline.answer(asked))
    if body.stream:
        return await _stream(answering, body.model, request.state.request_id, server.keep_alive_s)
    reply = await answering
    status = server.refusal_status if reply.name == "refused" else 200
    if status != 200:
        refused = InvalidRequest(reply.text)
        return JSONResponse(envelope(refused, code="content_filter"), status, headers(reply))
    return JSONResponse(_completion(reply, body.model, request.state.request_id), status, headers(reply))


@router.get("/models")
async def models(caller: ClientDep) -> dict[str, Any]:
    """The one model we are."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "sekisho"}]}


def _completion(reply: Reply, model: str, request_id: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request_id}",
        "object": "chat.completion",
        "created": int(time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text, "refusal": None},
                "finish_reason": _finish(reply),
                "logprobs": None,
            }
        ],
        "sekisho": decision(reply),
    }


async def _stream(
    answering: asyncio.Task[Reply], model: str, request_id: str, keep_alive_s: float
) -> EventSourceResponse:
    """Nothing leaves before the verdict. A verdict within the first keep-alive goes into the headers, too."""
    await asyncio.wait({answering}, timeout=keep_alive_s)
    known = headers(answering.result()) if answering.done() else {}  # an error is still a plain error here
    return EventSourceResponse(
        _events(answering, model, request_id),
        headers=known,
        ping=max(1, round(keep_alive_s)),
        shutdown_grace_period=_LONGEST_ANSWER_S,
        ping_message_factory=lambda: ServerSentEvent(comment="checking"),
        sep="\n",
    )


async def _events(
    answering: asyncio.Task[Reply], model: str, request_id: str
) -> AsyncIterator[ServerSentEvent]:
    def chunk(delta: dict[str, str], finish: str | None = None, **more: Any) -> ServerSentEvent:
        body = {
            "id": f"chatcmpl-{request_id}",
            "object": "chat.completion.chunk",
            "created": int(time()),
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            **more,
        }
        return ServerSentEvent(json.dumps(body, ensure_ascii=False))

    if not answering.done():  # the headers have gone: say at once that somebody is there
        yield ServerSentEvent(comment="checking")
    try:
        reply = await answering
    except SekishoError as exc:  # the status is gone already: the error is the last event
        yield ServerSentEvent(json.dumps(envelope(exc), ensure_ascii=False))
        return
    finally:
        answering.cancel()  # the asker left; once done, this does nothing
    yield chunk({"role": "assistant", "content": ""})
    for piece in filter(None, _PIECES.findall(reply.text)):
        yield chunk({"content": piece})
    yield chunk({}, _finish(reply), sekisho=decision(reply))
    yield ServerSentEvent("[DONE]")


def _finish(reply: Reply) -> str:
    return "content_filter" if is_filtered(reply) else "stop"
