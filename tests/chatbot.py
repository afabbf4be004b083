"""A small OpenAI-compatible server that plays the production chatbot (or a language model) in tests.

It is not a model: it says what the test told it to say, or fails in the way the test told it to fail.

    with Chatbot() as bot:
        bot.says("We open at nine.", contexts=["Opening hours: 9 to 17."])  # from now on, to everybody
        bot.next(Fails(500), Says("Second try."))                           # only to the next two requests
        bot.when("refund", Says("Within 14 days."))                         # when the last message says so
        ...  # ask bot.base_url
        assert bot.asked[-1].question == "When do you open?"

It runs on a free port of the loopback interface in its own thread, so tests with and without an event
loop, and other processes, can ask it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse, StreamingResponse

from tests.serving import Serving

__all__ = [
    "Asked",
    "CallsTool",
    "Chatbot",
    "Context",
    "Fails",
    "Half",
    "HangsUp",
    "Place",
    "Raw",
    "Reply",
    "Says",
    "Silent",
]

Place = Literal[
    "azure-on-your-data", "dify", "langserve", "llama-index", "openai-responses", "contexts", "nowhere"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A passage as chatbots give it."""

    text: str
    title: str = "Handbook"
    source: str = "handbook.md"
    score: float = 0.5


@dataclass(frozen=True, slots=True)
class Says:
    """An answer, with its contexts in the place where that chatbot puts them."""

    text: str | None
    contexts: Sequence[str | Context] = ()
    place: Place = "azure-on-your-data"
    delay_s: float = 0.0
    finish_reason: str = "stop"
    model: str = "chatbot-1"
    extra: Mapping[str, Any] = field(default_factory=dict)  # merged into the top level of the reply
    also: Sequence[str] = ()  # its other choices, where `n` asks for some
    contexts_in: Literal["first", "last"] = "first"  # event of a stream
    pieces: Sequence[str] | None = None  # of a stream; its words without it
    piece_delay_s: float = 0.0
    until: threading.Event | None = None  # what follows the second piece waits for it
    streams: bool = True  # False: answers in one piece, whatever is asked


@dataclass(frozen=True, slots=True)
class CallsTool:
    """Asks for a tool call instead of answering, or after some words."""

    name: str = "search_orders"
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Fails:
    """An error status in OpenAI's envelope. `retry_after_ms` keeps retries short in tests."""

    status: int = 500
    message: str = "the chatbot is broken"
    retry_after_ms: int = 1
    retry_after_s: int | None = None  # instead


@dataclass(frozen=True, slots=True)
class Raw:
    """These very bytes with status 200: garbage, HTML, an empty body."""

    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Half:
    """The first half of an answer (or of a stream), then the connection is cut."""

    text: str = "We open at nine in the morning and close at five in the afternoon."


@dataclass(frozen=True, slots=True)
class HangsUp:
    """Cuts the connection without a word."""


@dataclass(frozen=True, slots=True)
class Silent:
    """Takes the request and says nothing for so long."""

    for_s: float = 60.0


Reply = Says | CallsTool | Fails | Raw | Half | HangsUp | Silent


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or self.body.get("input") or [])

    @property
    def question(self) -> str:
        return str(self.messages[-1]["content"]) if self.messages else ""


class Chatbot(Serving):
    """The server. Every change of script counts from the next request on."""

    def __init__(self, default: Reply | None = None) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()  # somebody did, in the middle of a stream
        self._default: Reply = default or Says("I am a chatbot of the tests.")
        self._next: deque[Reply] = deque()
        self._when: list[tuple[str, Reply]] = []

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def says(self, text: str, contexts: Sequence[str | Context] = (), **how: Any) -> None:
        """What everybody hears from now on."""
        self._default = Says(text, contexts, **how)

    def always(self, reply: Reply) -> None:
        """What everybody gets from now on."""
        self._default = reply

    def next(self, *replies: Reply) -> None:
        """What the next requests get, one each, before anything else."""
        self._next.extend(replies)

    def when(self, words: str, reply: Reply) -> None:
        """What a request gets whose last message contains these words."""
        self._when.append((words, reply))

    def reset(self) -> None:
        """Forget the script and what was asked; a test may share the server with others."""
        self.asked.clear()
        self.hung_up.clear()
        self._next.clear()
        self._when.clear()
        self._default = Says("I am a chatbot of the tests.")

    def app(self) -> FastAPI:
        app = FastAPI()
        app.add_api_route("/v1/models", self._models, methods=["GET"])
        for path in ("/v1/chat/completions", "/v1/completions", "/v1/responses"):
            app.add_api_route(path, self._answer, methods=["POST"], response_model=None)
        return app

    async def _models(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": "chatbot-1", "object": "model", "owned_by": "tests"}]}

    async def _answer(self, request: Request) -> Response:
        asked = Asked(request.url.path, await request.json(), dict(request.headers))
        self.asked.append(asked)
        return await self._play(self._reply_to(asked), asked, request)

    def _reply_to(self, asked: Asked) -> Reply:
        if self._next:
            return self._next.popleft()
        return next((reply for words, reply in self._when if words in asked.question), self._default)

    async def _play(self, reply: Reply, asked: Asked, request: Request) -> Response:
        stream = bool(asked.body.get("stream"))
        match reply:
            case Says():
                await asyncio.sleep(reply.delay_s)
                responses = asked.path.endswith("/responses")
                if stream and reply.streams:
                    events = _response_events(reply) if responses else _events(reply)
                    return StreamingResponse(self._watched(events), media_type="text/event-stream")
                await asyncio.sleep(reply.piece_delay_s * len(_pieces(reply)))  # a whole answer takes as long
                body = _responses(reply) if responses else _completion(reply, int(asked.body.get("n", 1)))
                return Response(json.dumps(body), media_type="application/json")  # halves of characters, too
            case CallsTool():
                if stream and not asked.path.endswith("/responses"):
                    return StreamingResponse(_tool_call_events(reply), media_type="text/event-stream")
                return JSONResponse(_tool_call(reply, responses=asked.path.endswith("/responses")))
            case Fails():
                error = {"message": reply.message, "type": "server_error", "param": None, "code": None}
                headers = {"retry-after-ms": str(reply.retry_after_ms)}
                if reply.retry_after_s is not None:
                    headers = {"retry-after": str(reply.retry_after_s)}
                return JSONResponse({"error": error}, status_code=reply.status, headers=headers)
            case Raw():
                return Response(reply.body, media_type=reply.content_type)
            case Half():
                return _half(reply, request, stream=stream)
            case HangsUp():
                _cut(request)
                return Response()
            case Silent():
                await asyncio.sleep(reply.for_s)
                return Response()

    async def _watched(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        whole = False
        try:
            async for event in events:
                yield event
            whole = True
        finally:
            if not whole:
                self.hung_up.set()


def _context(context: str | Context) -> Context:
    return context if isinstance(context, Context) else Context(text=context)


def _completion(said: Says, n: int = 1) -> dict[str, Any]:
    """A chat completion with the contexts in their place."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    others = [{"role": "assistant", "content": text} for text in said.also[: n - 1]]
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": said.model,
        "choices": [
            {"index": index, "message": one, "finish_reason": said.finish_reason}
            for index, one in enumerate([message, *others])
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
    }
    found = [_context(context) for context in said.contexts]
    match said.place:
        case "azure-on-your-data":
            citations = [
                {"content": c.text, "title": c.title, "url": c.source, "chunk_id": "0"} for c in found
            ]
            for one in (message, *others):
                one["context"] = {"citations": citations, "intent": "[]"}
        case "dify":
            resources = [
                {"content": c.text, "document_name": c.title, "document_id": c.source, "score": c.score}
                for c in found
            ]
            body["metadata"] = {"retriever_resources": resources}
        case "langserve":
            documents = [
                {"page_content": c.text, "metadata": {"title": c.title, "source": c.source, "score": c.score}}
                for c in found
            ]
            body["output"] = {"answer": said.text, "context": documents}
        case "llama-index":
            body["source_nodes"] = [
                {
                    "node": {"text": c.text, "metadata": {"title": c.title, "file_name": c.source}},
                    "score": c.score,
                }
                for c in found
            ]
        case "contexts":
            body["contexts"] = [
                {"text": c.text, "title": c.title, "source": c.source, "score": c.score} for c in found
            ]
        case "openai-responses" | "nowhere":
            pass
    return {**body, **said.extra}


_INCOMPLETE = {"content_filter": "content_filter", "length": "max_output_tokens"}  # for /responses


def _responses(said: Says) -> dict[str, Any]:
    """A reply of the Responses API, with a file search before the message."""
    results = [
        {"text": c.text, "filename": c.source, "file_id": "file-1", "score": c.score, "attributes": {}}
        for c in map(_context, said.contexts)
    ]
    search = {"type": "file_search_call", "id": "fs_1", "status": "completed", "results": results}
    content: list[dict[str, Any]] = [{"type": "output_text", "text": said.text, "annotations": []}]
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    output = [search, message]
    body: dict[str, Any] = {"id": "resp_1", "object": "response", "model": said.model, "output": output}
    if said.finish_reason in _INCOMPLETE:
        body["incomplete_details"] = {"reason": _INCOMPLETE[said.finish_reason]}
    return {**body, **said.extra}


def _tool_call(called: CallsTool, *, responses: bool) -> dict[str, Any]:
    if responses:
        call = {"type": "function_call", "name": called.name, "arguments": "{}", "call_id": "call_1"}
        return {"id": "resp_1", "object": "response", "model": "chatbot-1", "output": [call]}
    function = {"name": called.name, "arguments": "{}"}
    body = _completion(Says(called.text, place="nowhere", finish_reason="tool_calls"))
    body["choices"][0]["message"]["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    return body


async def _tool_call_events(called: CallsTool) -> AsyncIterator[bytes]:
    function = {"name": called.name, "arguments": ""}
    yield _event(_chunk({"role": "assistant", "content": called.text or ""}))
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    yield _event(_chunk({"tool_calls": [call]}))
    yield _event(_chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}))
    yield _event(_chunk({}, "tool_calls"))
    yield b"data: [DONE]\n\n"


def _chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "chatbot-1", "choices": choices}


async def _events(said: Says) -> AsyncIterator[bytes]:
    """The same completion as a stream of chunks; contexts come in the first event, or with the end."""
    whole = _completion(said)
    message = whole["choices"][0].pop("message")
    usage = whole.pop("usage")
    plain = {name: whole.pop(name) for name in ("id", "created", "model")}
    plain["object"] = "chat.completion.chunk"
    beside = {name: value for name, value in whole.items() if name not in ("choices", "object")}
    with_contexts = {name: value for name, value in message.items() if name != "content"}
    early = said.contexts_in == "first"

    def event(delta: Mapping[str, Any], finish: str | None = None, *, contexts: bool = False) -> bytes:
        delta = {**delta, **with_contexts} if contexts else delta
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return _event({**plain, **(beside if contexts else {}), "choices": choices})

    yield event({"role": "assistant", "content": ""}, contexts=early)
    for number, piece in enumerate(_pieces(said)):
        if number == 2 and said.until:
            await asyncio.to_thread(said.until.wait, 30)
        yield event({"content": piece})
        await asyncio.sleep(said.piece_delay_s)
    yield event({}, said.finish_reason, contexts=not early)
    yield _event({**plain, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _pieces(said: Says) -> Sequence[str]:
    if said.pieces is not None:
        return said.pieces
    words = (said.text or "").split(" ")
    return [word if i == 0 else f" {word}" for i, word in enumerate(words)]


async def _response_events(said: Says) -> AsyncIterator[bytes]:
    """The events of the Responses API: the finished search, deltas, the finished message, all of it."""
    whole = _responses(said)
    *before, message = whole["output"]
    for item in before:
        yield _event({"type": "response.output_item.done", "output_index": 0, "item": item})
    for piece in _pieces(said):
        yield _event({"type": "response.output_text.delta", "output_index": 1, "delta": piece})
        await asyncio.sleep(said.piece_delay_s)
    yield _event({"type": "response.output_item.done", "output_index": 1, "item": message})
    end = "incomplete" if said.finish_reason in _INCOMPLETE else "completed"
    yield _event({"type": f"response.{end}", "response": whole})


def _event(chunk: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _half(reply: Half, request: Request, *, stream: bool) -> Response:
    async def first_half() -> AsyncIterator[bytes]:
        if stream:
            words = reply.text.split(" ")
            async for event in _events(Says(" ".join(words[: len(words) // 2]))):
                if b'"finish_reason": null' in event:
                    yield event
        else:
            body = json.dumps(_completion(Says(reply.text))).encode()
            yield body[: len(body) // 2]
        await asyncio.sleep(0.01)  # what was written leaves before the line goes dead
        _cut(request)

    return StreamingResponse(first_half(), media_type="text/event-stream" if stream else "application/json")


def _cut(request: Request) -> None:
    """Close the connection under the server's feet; uvicorn keeps it on the object behind `receive`."""
    receive: Any = request.receive
    receive.__self__.transport.close()
