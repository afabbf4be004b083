"""OpenAI's chat contract in front of the checkpoint, whole or as a stream."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from time import time
from typing import Annotated, Any

from anyio import CancelScope
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from gateway.assembly import Services
from gateway.domain import FILTERED, Choice, Conversation, Reply
from gateway.errors import InvalidRequest, NotFound
from gateway.people.access import ClientDep
from gateway.routes.decision import decision, headers
from gateway.routes.envelope import envelope, named
from gateway.routes.messages import Message, conversation
from gateway.routes.services import ServicesDep
from gateway.routes.waiting import listening, whole_reply
from gateway.streaming import Line

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "sekisho"
OURSELVES = {"id": MODEL, "object": "model", "created": 0, "owned_by": "sekisho"}
MOST_CHOICES = 8
_REFUSED = InvalidRequest.status  # the one that `server.refusal_status` can be besides 200
_LONGEST_ANSWER_S = 600.0  # at the end of the process, too: who waits for a verdict gets it
_PIECES = re.compile(r"\S*\s*|.", re.DOTALL)
_FOR_THE_CHATBOT = (
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop",
    "presence_penalty", "frequency_penalty", "user",
)  # fmt: skip


# What no JSON can hold would look like a failure of the chatbot, and open its circuit for everybody.
Amount = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Stop = Annotated[str, Field(max_length=1_000)]  # with a limit, halves of surrogate pairs are refused, too


class StreamOptions(BaseModel):
    """OpenAI's; what else may stand in them is harmless."""

    include_usage: bool | None = None


class ResponseFormat(BaseModel):
    """OpenAI's; of its forms we keep to `text`."""

    type: str


class ChatRequest(BaseModel):
    """OpenAI's body. What we can't do is refused by name, what is harmless goes to the chatbot."""

    messages: Annotated[list[Message], Field(min_length=1)]
    model: Annotated[str, Field(max_length=200)] = MODEL
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int | None, Field(ge=1, le=MOST_CHOICES)] = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: ResponseFormat | None = None
    user: str | None = Field(None, max_length=200)
    temperature: Amount | None = None
    top_p: Amount | None = None
    max_tokens: Whole | None = None
    max_completion_tokens: Whole | None = None
    seed: Whole | None = None
    stop: Stop | list[Stop] | None = None
    presence_penalty: Amount | None = None
    frequency_penalty: Amount | None = None

    def refuse_what_we_cannot_do(self) -> None:
        """Nobody can say what supports a tool call, and a canned text keeps to no schema."""
        for name in ("tools", "functions"):
            if getattr(self, name):
                raise InvalidRequest("tool calls can't be checked and are not supported", param=name)
        if self.response_format and self.response_format.type != "text":
            raise InvalidRequest("answers are text, expected type 'text'", param="response_format")

    def options(self) -> dict[str, Any]:
        """What the chatbot may be told."""
        return self.model_dump(include=set(_FOR_THE_CHATBOT), exclude_none=True)


@router.post("/chat/completions")
async def chat(body: ChatRequest, request: Request, caller: ClientDep, services: ServicesDep) -> Response:
    """Answer a question, refuse it, or pass it to a person."""
    body.refuse_what_we_cannot_do()
    asked = conversation(
        body.messages,
        tenant=caller.tenant,
        group=caller.group,
        request_id=request.state.request_id,
        limits=services.settings.server,
        front_end_tasks=services.settings.understanding.front_end_tasks,
        asker=body.user,
        options=body.options(),
        choices=body.n or 1,
    )
    if body.stream:
        return await _stream(services, asked, body, request)
    reply = await whole_reply(services, asked, request)
    if refused := _refusal(reply, services):
        return JSONResponse(refused, _REFUSED, headers(reply))
    return JSONResponse(_completion(reply, body.model, request.state.request_id), headers=headers(reply))


@router.get("/models")
async def models(caller: ClientDep) -> dict[str, Any]:
    """The one model we are."""
    return {"object": "list", "data": [OURSELVES]}


@router.get("/models/{name}")
async def model(name: str, caller: ClientDep) -> dict[str, Any]:
    """The same by its name; chats may ask for any other, too, and get it."""
    if name != MODEL:
        raise NotFound(f"the one model here is {MODEL}")
    return OURSELVES


def _refusal(reply: Reply, services: Services) -> dict[str, Any] | None:
    """The error that a refusal is to clients that want one."""
    if reply.name != "refused" or services.settings.server.refusal_status != _REFUSED:
        return None
    return envelope(InvalidRequest(reply.text), code="content_filter")


def _completion(reply: Reply, model: str, request_id: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request_id}",
        "object": "chat.completion",
        "created": int(time()),
        "model": model,
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": choice.text, "refusal": None},
                "finish_reason": _finish(choice),
                "logprobs": None,
            }
            for index, choice in enumerate(_choices(reply))
        ],
        **_usage(reply),
        "sekisho": decision(reply),
    }


async def _stream(services: Services, asked: Conversation, body: ChatRequest, request: Request) -> Response:
    """Comments until something may leave. A verdict before the first of them goes into the headers, too."""
    line = Line()
    keep_alive_s = services.settings.server.keep_alive_s
    answering = asyncio.create_task(services.pipeline.answer(asked, line))
    opening = asyncio.create_task(line.opened.wait())
    with listening(request, line):  # then the stream does
        await asyncio.wait({answering, opening}, timeout=keep_alive_s, return_when=asyncio.FIRST_COMPLETED)
    opening.cancel()
    known = headers(answering.result()) if answering.done() else {}  # an error is still a plain error here
    if answering.done() and (refused := _refusal(answering.result(), services)):
        return JSONResponse(refused, _REFUSED, known)
    stream = _Stream(line, answering, body, asked.request_id, services)
    return EventSourceResponse(
        stream.events(),
        headers=known,
        ping=max(1, round(keep_alive_s)),
        shutdown_grace_period=_LONGEST_ANSWER_S,
        ping_message_factory=lambda: ServerSentEvent(comment="checking"),
        sep="\n",
    )


class _Stream:
    """A reply as OpenAI's chunks: what its line lets go while it is made, and at the end the rest."""

    def __init__(
        self,
        line: Line,
        answering: asyncio.Task[Reply],
        body: ChatRequest,
        request_id: str,
        services: Services,
    ) -> None:
        self._line = line
        self._answering = answering
        self._model = body.model
        self._counts = bool(body.stream_options and body.stream_options.include_usage)
        self._request_id = request_id
        self._created = int(time())  # one for all chunks
        self._services = services
        self._mode = services.settings.faithfulness.streaming
        self._silent = True

    async def events(self) -> AsyncIterator[ServerSentEvent]:
        """Every event, to the last."""
        if not (self._answering.done() or self._line.opened.is_set()):
            yield ServerSentEvent(comment="checking")  # the headers have gone: say that somebody is there
        try:
            async for piece in self._line.pieces(until=self._answering):
                for event in self._said(piece):
                    yield event
        finally:
            await self._hang_up()
        if error := self._error():
            yield ServerSentEvent(json.dumps(error, ensure_ascii=False))
            return
        for event in self._ending(self._answering.result()):
            yield event
        yield ServerSentEvent("[DONE]")

    def _error(self) -> dict[str, Any] | None:
        """What broke on the way: the status is gone already, so it is the last event."""
        broke = self._answering.exception()
        if broke is None:
            return _refusal(self._answering.result(), self._services)
        error = named(broke)
        self._services.telemetry.metrics.errors.labels(error.code).inc()
        return envelope(error)

    async def _hang_up(self) -> None:
        """Who hangs up is not waited for by the chatbot; what was decided is still recorded."""
        self._line.hang_up()
        with CancelScope(shield=True):
            await asyncio.wait({self._answering})
        if not self._answering.cancelled():
            self._answering.exception()  # it was told where it happened

    def _said(self, text: str, index: int = 0) -> Iterator[ServerSentEvent]:
        """Words of a choice, after its role."""
        if self._silent:
            self._services.telemetry.first_words(self._mode, self._line.age_s)
            self._silent = False
            yield self._chunk({"role": "assistant", "content": ""})
        for piece in filter(None, _PIECES.findall(text)):
            yield self._chunk({"content": piece}, index=index)

    def _ending(self, reply: Reply) -> Iterator[ServerSentEvent]:
        """What has not left yet of each choice, how it ends, and with the last the decision."""
        choices = _choices(reply)
        for index, choice in enumerate(choices):
            if index:
                yield self._chunk({"role": "assistant", "content": ""}, index=index)
            yield from self._said(self._line.rest(choice.text), index)
            broken = self._line.breaks_off(choice.text)
            finish = "content_filter" if broken else _finish(choice)
            more = {"sekisho": decision(reply)} if index == len(choices) - 1 else {}
            yield self._chunk({}, finish, index=index, **more)
        if self._counts and (usage := _usage(reply)):
            yield self._event(choices=[], **usage)

    def _chunk(
        self, delta: dict[str, str], finish: str | None = None, *, index: int = 0, **more: Any
    ) -> ServerSentEvent:
        counts = {"usage": None} if self._counts else {}
        return self._event(
            choices=[{"index": index, "delta": delta, "finish_reason": finish}], **counts, **more
        )

    def _event(self, **more: Any) -> ServerSentEvent:
        body = {
            "id": f"chatcmpl-{self._request_id}",
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            **more,
        }
        return ServerSentEvent(json.dumps(body, ensure_ascii=False))


def _choices(reply: Reply) -> tuple[Choice, ...]:
    return reply.choices or (Choice(reply.text, reply.name in FILTERED, reply.cut_off),)


def _usage(reply: Reply) -> dict[str, Any]:
    """The tokens that the chatbot says it took; nothing where it does not say."""
    took = reply.tokens
    if took is None:
        return {}
    total = took.read + took.written
    return {"usage": {"prompt_tokens": took.read, "completion_tokens": took.written, "total_tokens": total}}


def _finish(choice: Choice) -> str:
    if choice.filtered:
        return "content_filter"
    return "length" if choice.cut_off else "stop"
