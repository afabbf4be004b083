"""Where NiceGUI meets our app; nothing else knows how it is started.

NiceGUI is one FastAPI app per process, with its state in its modules. So a gateway gets an app of its own in
between, which has the gateway's services and its door; behind it stands NiceGUI's. Of several gateways in one
process (tests) the first that runs has the console.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import nicegui
from fastapi import FastAPI, Request
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from nicegui import Client, core, ui

from gateway.assembly import Services
from gateway.console import signing_in, signing_in_by_oidc
from gateway.console.components.keys import Keys
from gateway.console.components.moments import zone_of
from gateway.console.door import COOKIE, ZONE_COOKIE, Door
from gateway.console.frame import framed
from gateway.console.pages import PAGES
from gateway.console.pages.page import Page
from gateway.console.texts import LANGUAGES, UiLanguage, preferred, texts_of
from gateway.console.visit import Visit
from gateway.routes.middleware import BodyLimit

__all__ = ["make_console"]

STATIC = Path(str(files("gateway.console"))) / "static"
QUASAR: dict[UiLanguage, str] = {"en": "en-US", "ja": "ja", "zh": "zh-CN"}
THEMES = {"light": False, "dark": True}


def make_console(services: Services) -> FastAPI:
    """The console of a gateway, to be mounted under /console; its lifespan must be run."""
    console = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    console.mount("/static", StaticFiles(directory=STATIC))
    console.include_router(signing_in.router)
    if services.people.oidc is not None:
        console.include_router(signing_in_by_oidc.router)
    for page in PAGES:
        _register(page)
    nicegui.app.user_middleware.clear()  # what an earlier gateway of this process left
    nicegui.app.middleware_stack = None
    ui.run_with(
        console,
        title="Sekisho",
        favicon=STATIC / "favicon.svg",
        tailwind=False,  # a compiler in the browser; static/console.css is all we need
        reconnect_timeout=10.0,
        show_welcome_message=False,
    )
    nicegui.app.exception_handlers[404] = _not_found
    _without_base_middleware(nicegui.app)
    console.router.lifespan_context = _once(console.router.lifespan_context)
    console.add_middleware(BodyLimit, max_bytes=services.settings.console.max_upload_bytes)
    console.add_middleware(Door, services=services)  # around it: a stranger's upload is not read
    return console


async def _not_found(request: Request, exc: Exception) -> PlainTextResponse:
    """In place of NiceGUI's page, which strangers could have made, and its line in the log."""
    return PlainTextResponse("not found", 404)


def _without_base_middleware(app: FastAPI) -> None:
    """NiceGUI's two small ones go: each costs a task a request, and fails where a browser leaves early.

    One marks program files as lasting, which the door does; the other is for proxies that change the path.
    """
    app.user_middleware[:] = [one for one in app.user_middleware if cast("Any", one.cls) is GZipMiddleware]


def _once(
    lifespan: Callable[[FastAPI], Any],
) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def first_only(app: FastAPI) -> AsyncIterator[None]:
        if nicegui.app.is_started and core.is_loop_running():
            yield
            return
        running = lifespan(app)
        await running.__aenter__()
        try:
            yield
        finally:  # NiceGUI's own would not stop where the serving is cancelled
            await running.__aexit__(None, None, None)

    return first_only


def _register(page: Page) -> None:
    async def shown(request: Request, client: Client) -> RedirectResponse | None:
        visit = _visit(request, client)
        client.page = copy.copy(client.page)  # NiceGUI asks the page, and ours looks different to each person
        client.page.language = QUASAR[visit.t.language]  # type: ignore[assignment]
        client.page.dark = THEMES.get(visit.person.theme)
        client.title = f"{visit.t(f'pages.{page.name}')} · Sekisho"
        await framed(visit, page)
        return None

    ui.page(page.path, response_timeout=20.0)(shown)


def _visit(request: Request, client: Client) -> Visit:
    person = request.state.person
    wished: Any = person.language
    language = wished if wished in LANGUAGES else preferred(request.headers.get("accept-language", ""))
    t = texts_of(language)
    return Visit(
        services=request.state.services,
        person=person,
        t=t,
        keys=Keys(t),
        client=client,
        zone=zone_of(unquote(request.cookies.get(ZONE_COOKIE, ""))),
        root=request.scope.get("root_path", ""),
        cookie=request.cookies.get(COOKIE, ""),
        path=request.url.path,
        params=request.path_params,
        query=request.query_params,
    )
