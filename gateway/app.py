"""The FastAPI application over assembled services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from classifiers import ClassifierError
from encoders import EncoderError
from gateway.assembly import Services
from gateway.errors import InvalidRequest, NotFound, SekishoError, StoreUnavailable
from gateway.routes import (
    answers,
    askers,
    audits,
    checks,
    deliveries,
    documents,
    entries,
    exports,
    feedback,
    figures,
    gate_examples,
    health,
    openai,
    review,
    shadow,
    suggestions,
    welcome,
)
from gateway.routes.envelope import envelope, named
from gateway.routes.middleware import BodyLimit, RequestId
from gateway.streaming import AskerHungUp
from storage.quick import REST_S
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["create_app"]

CONSOLE = "/console"
LONGEST_PATH = 100  # characters of one that is told of
NOBODY_THERE = 499  # nginx's status of a request whose client hung up: traces and counts need one


def create_app(services: Services) -> FastAPI:
    """The HTTP side of the gateway; the caller opens and closes the services."""
    console = _console(services)
    app = FastAPIOffline(  # FastAPI's own page of the API runs scripts from elsewhere
        title="Sekisho",
        version=services.version,
        docs_url="/docs",
        redoc_url=None,
        static_url="/docs/static",
        lifespan=_lifespan_of(console),
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
        },  # ours names no texts
    )
    app.state.services = services
    for module in (
        openai, answers, checks, review, audits, entries, suggestions, documents, gate_examples, shadow,
        deliveries, feedback, figures, askers, exports, health, welcome,
    ):  # fmt: skip
        app.include_router(module.router)
    if console is not None:
        app.mount(CONSOLE, _apart(console))
    uploads = None if console is None else f"{CONSOLE}/_nicegui/client/"
    app.add_middleware(BodyLimit, max_bytes=services.settings.server.max_body_bytes, exempt_prefix=uploads)
    if services.trace is not None:
        from gateway.tracing.otel import TracedRequests  # here: it needs the extra

        app.add_middleware(TracedRequests, trace=services.trace)
    app.add_middleware(RequestId)
    for error in (SekishoError, DatabaseUnavailable, IndexUnavailable, EncoderError, ClassifierError):
        app.add_exception_handler(error, _named)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(AskerHungUp, _unread)
    app.add_exception_handler(Exception, _named)
    return app


def _console(services: Services) -> FastAPI | None:
    if not services.settings.console.enabled:
        return None
    from gateway.console.mounting import make_console  # here: half a second that nobody else should wait for

    return make_console(services)


def _apart(inner: ASGIApp) -> ASGIApp:
    """An app that writes itself into a scope of its own: our handlers of errors find ours."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        await inner(dict(scope), receive, send)

    return called


def _lifespan_of(console: FastAPI | None) -> Callable[[FastAPI], AbstractAsyncContextManager[None]] | None:
    """The app lives as long as its console: Starlette does not start what is mounted."""
    if console is None:
        return None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with console.router.lifespan_context(console):
            yield

    return lifespan


def _render(request: Request, error: SekishoError, *, status: int | None = None) -> JSONResponse:
    request.app.state.services.telemetry.metrics.errors.labels(error.code).inc()
    headers = {"x-sekisho-outcome": "error", "x-sekisho-reason": error.code}
    if error.status == StoreUnavailable.status:
        headers["retry-after"] = f"{REST_S:.0f}"
    return JSONResponse(envelope(error), status or error.status, headers)


async def _named(request: Request, exc: Exception) -> JSONResponse:
    return _render(request, named(exc))


async def _invalid(request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, RequestValidationError)  # noqa: S101
    return _render(request, _first(exc.errors(), exc.body))


async def _http(request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)  # noqa: S101
    problem: SekishoError = InvalidRequest(str(exc.detail))
    if exc.status_code == NotFound.status:
        asked = f"{request.method} {request.url.path[:LONGEST_PATH]}"
        problem = NotFound(f"{asked} is not served here; chats go to POST /v1/chat/completions")
    response = _render(request, problem, status=exc.status_code)
    response.headers.update(exc.headers or {})  # which methods are allowed
    return response


async def _unread(request: Request, exc: Exception) -> Response:
    return Response(status_code=NOBODY_THERE)


def _first(problems: Sequence[Any], body: Any) -> InvalidRequest:
    """The first problem of a body as one sentence that names the field."""
    problem = problems[0]
    if problem["type"] == "json_invalid":
        return InvalidRequest(f"the body is not JSON: {problem['ctx']['error']}")
    if (problem["type"], problem["loc"]) == ("model_attributes_type", ("body",)):  # curl's own content type
        return InvalidRequest("expected a JSON object under `Content-Type: application/json`")
    found = [(_field(one, body), one["msg"].removeprefix("Value error, ")) for one in problems]
    wrong = {field for field, _ in found if not any(_within(field, other) for other, _ in found)}
    first = next(field for field in wrong if field == found[0][0] or _within(found[0][0], field))
    of_first = [one for one in found if one[0] == first or _within(one[0], first)]
    field, message = max(of_first, key=lambda one: len(one[0]))  # the kind of value that got furthest
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    path = ".".join(field)
    return InvalidRequest(f"{path or 'body'}: {message}{more}", param=path or None)


def _within(field: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return len(field) > len(other) and field[: len(other)] == other


def _field(problem: Any, body: Any) -> tuple[str, ...]:
    """Where it is, as the client wrote it; Pydantic's path also says which kind of value it tried."""
    place, *parts = problem["loc"]
    if place != "body":
        return (place, *map(str, parts))
    path = []
    for part in parts:
        if part in body if isinstance(body, dict) else isinstance(body, list) and isinstance(part, int):
            path.append(str(part))
            body = body[part]
    if problem["type"] == "missing":
        path += map(str, parts[-1:])
    return tuple(path)
