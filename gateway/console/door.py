"""Who is let in to the console: our own origin only, and nobody without a session."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import nicegui
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.assembly import Services

__all__ = ["COOKIE", "ZONE_COOKIE", "Door"]

COOKIE = "sekisho_session"
ZONE_COOKIE = "sekisho_timezone"  # written by static/zone.js
# no session: what it takes to sign in, and program files to read
OPEN = ("/sign-in", "/oidc/")
OPEN_TO_READ = ("/static/", "/_nicegui/")
LASTING = f"/_nicegui/{nicegui.__version__}/"  # program files
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# NiceGUI's templates are compiled in the browser ('unsafe-eval') and start from inline scripts.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; "
    "form-action 'self'; base-uri 'self'; object-src 'none'"
)


class Door:
    """ASGI around the console: every request and every websocket passes here."""

    def __init__(self, app: ASGIApp, *, services: Services) -> None:
        self._app = app
        self._services = services
        self._origins = frozenset(services.settings.console.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        visitor = HTTPConnection(scope)
        if self._is_foreign(visitor):
            return await _refuse(scope, receive, send)
        state = scope.setdefault("state", {})
        state["services"] = self._services
        if not _is_open(scope):
            state["person"] = await self._services.people.sessions.find(visitor.cookies.get(COOKIE))
            if state["person"] is None:
                return await _to_sign_in(visitor, scope, receive, send)
        lasting = _path(scope).startswith(LASTING)
        return await self._app(scope, receive, _guarded(send, lasting=lasting))

    def _is_foreign(self, visitor: HTTPConnection) -> bool:
        """Whether another site's page sends this: it could act in the name of whoever is signed in here."""
        if visitor.scope["type"] == "http" and visitor.scope["method"] in SAFE_METHODS:
            return False
        origin = visitor.headers.get("origin")
        if origin is None:  # no page of a browser; browsers say so with every websocket and every POST
            return visitor.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        return urlsplit(origin).netloc != visitor.headers.get("host") and origin not in self._origins


def _is_open(scope: Scope) -> bool:
    reads = scope["type"] == "http" and scope["method"] in SAFE_METHODS
    return _path(scope).startswith(OPEN + OPEN_TO_READ if reads else OPEN)


def _path(scope: Scope) -> str:
    """The path inside the console."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await PlainTextResponse("this came from another site", 403)(scope, receive, send)


async def _to_sign_in(visitor: HTTPConnection, scope: Scope, receive: Receive, send: Send) -> None:
    path = _path(scope)
    if scope["type"] == "websocket" or path.startswith("/_nicegui"):
        return await _refuse(scope, receive, send)
    wanted = path + (f"?{visitor.url.query}" if visitor.url.query else "")
    target = f"{scope.get('root_path', '')}/sign-in?next={quote(wanted)}"
    return await RedirectResponse(target, 303)(scope, receive, send)


def _guarded(send: Send, *, lasting: bool) -> Send:
    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["content-security-policy"] = POLICY
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "same-origin"
            if lasting and message["status"] == 200:
                headers["cache-control"] = "public, max-age=31536000, immutable"
        await send(message)

    return send_guarded
