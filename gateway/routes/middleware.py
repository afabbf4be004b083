"""Around every request: an id, and a limit on the body. Plain ASGI, as it stands on the hot path."""

from __future__ import annotations

import json
import re
import secrets

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import TooLarge
from gateway.routes.envelope import envelope

__all__ = ["BodyLimit", "RequestId"]

_FIT = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Every response says `x-request-id`: the client's own, if it is fit for a log, else a new one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        own = given if _FIT.fullmatch(given) else secrets.token_hex(12).encode()
        scope.setdefault("state", {})["request_id"] = own.decode()

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", own)]
            await send(message)

        return await self._app(scope, receive, send_with_id)


class BodyLimit:
    """A body over the limit is refused before anybody parses it, whether it announces its length or not.

    FastAPI's own limit answers an announced length in plain text, which is not OpenAI's envelope.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, exempt_prefix: str | None = None) -> None:
        """What is under the path `exempt_prefix` is passed on unread, to a limit of its own."""
        self._app = app
        self._max_bytes = max_bytes
        self._exempt_prefix = exempt_prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            return await self._app(scope, receive, send)
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if self._exempt_prefix is not None and path.startswith(self._exempt_prefix):
            return await self._app(scope, receive, send)
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > self._max_bytes:
            return await self._refuse(send)
        chunks, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None  # the client left
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > self._max_bytes:
                return await self._refuse(send)
            more = message.get("more_body", False)
        return await self._app(scope, _replay(b"".join(chunks), receive), send)

    async def _refuse(self, send: Send) -> None:
        error = TooLarge(f"the body is too large, at most {self._max_bytes} bytes are read")
        body = json.dumps(envelope(error)).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            (b"x-sekisho-outcome", b"error"),
            (b"x-sekisho-reason", error.code.encode()),
        ]
        await send({"type": "http.response.start", "status": error.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body again, once; after that the connection itself, for disconnects."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
