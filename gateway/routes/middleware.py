"""Around every request: an id, a line if it is refused, limits on the body. Plain ASGI: on the hot path."""

from __future__ import annotations

import asyncio
import json
import re
import secrets

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import SekishoError, TooLarge, TooSlow
from gateway.routes.envelope import envelope

__all__ = ["BodyLimit", "RequestId"]

REFUSED = range(400, 499)  # 499: who asked had left
BODY_S = 20.0  # until the body is there; 256 KiB then need 100 kbit/s
_FIT = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Every response says `x-request-id`: the client's own, if it is fit for a log, else a new one.

    A request that is refused is named in the log, and so is one that is still waited for when the process
    has to end.
    """

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
                if message["status"] in REFUSED:
                    _log_refusal(scope, message)
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", own)]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except asyncio.CancelledError:
            about = {"method": scope["method"], "path": _place(scope), "request_id": own.decode()}
            structlog.get_logger("sekisho").warning("request cut off", **about)
            raise


def _log_refusal(scope: Scope, start: Message) -> None:
    """Who was refused what, and why. A path that nothing is served at is left out: it may hold anything."""
    said = dict(start.get("headers", ()))
    if said.get(b"x-sekisho-outcome", b"error") != b"error":
        return  # a refused question: its outcome is logged
    state, client = scope["state"], scope.get("client")
    about = {
        "code": said.get(b"x-sekisho-reason", b"").decode(),
        "path": getattr(scope.get("route"), "path", None),
        "client": client and client[0],
        "key": state.get("key"),
    }
    structlog.get_logger("sekisho").info(
        "request refused",
        request_id=state["request_id"],
        status=start["status"],
        method=scope["method"],
        **{name: value for name, value in about.items() if value},
    )


def _place(scope: Scope) -> str:
    """The route, as a path may name an asker; the path of a request that has not got to one."""
    return str(getattr(scope.get("route"), "path", scope["path"]))[:100]


class BodyLimit:
    """A body over the limit is refused before anybody parses it, whether it announces its length or not.

    So is one that does not come in time: who stalls would be waited for until the process has to end.
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
        try:
            async with asyncio.timeout(BODY_S):
                body = await self._read(scope, receive)
        except TimeoutError:
            return await _refuse(send, TooSlow(f"the body did not come within {BODY_S:g} s"))
        except TooLarge as error:
            return await _refuse(send, error)
        if body is None:
            return None
        return await self._app(scope, _replay(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None if the client left."""
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > self._max_bytes:
            raise self._too_large()
        chunks, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > self._max_bytes:
                raise self._too_large()
            more = message.get("more_body", False)
        return b"".join(chunks)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"the body is too large, at most {self._max_bytes} bytes are read")


async def _refuse(send: Send, error: SekishoError) -> None:
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
