"""Some routes of the gateway over parts of it, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType

import httpx2
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from gateway.errors import SekishoError, StoreUnavailable
from gateway.routes.envelope import envelope
from storage.vectors import IndexUnavailable


@asynccontextmanager
async def over_http(services: object, *modules: ModuleType) -> AsyncIterator[httpx2.AsyncClient]:
    """Asks the routes of these modules; a body that can't be used is told by `where` alone."""
    app = FastAPI()
    app.state.services = services
    for module in modules:
        app.include_router(module.router)

    @app.exception_handler(SekishoError)
    async def named(_: Request, exc: SekishoError) -> JSONResponse:
        return JSONResponse(envelope(exc), exc.status)

    @app.exception_handler(IndexUnavailable)
    async def away(_: Request, exc: IndexUnavailable) -> JSONResponse:
        return JSONResponse(envelope(StoreUnavailable(str(exc))), 503)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, exc: RequestValidationError) -> JSONResponse:
        return JSONResponse({"where": list(exc.errors()[0]["loc"])}, 400)

    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as http:
        yield http
