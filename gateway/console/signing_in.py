"""Signing in with name and password: a plain page, since nobody without a session gets a websocket."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape

from gateway.assembly import Services
from gateway.console.door import COOKIE
from gateway.console.texts import LANGUAGES, Texts, UiLanguage, preferred, texts_of
from gateway.errors import TooManyAttempts

__all__ = ["ask", "form", "over_tls", "root_of", "router", "sign_in", "signed_in"]

router = APIRouter()


@router.get("/sign-in")
async def ask(request: Request, lang: UiLanguage | None = None) -> HTMLResponse:
    """The form."""
    return form(request, lang or preferred(request.headers.get("accept-language", "")))


@router.post("/sign-in")
async def sign_in(
    request: Request,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=500)] = "",
    next: Annotated[str, Form(max_length=2000)] = "/",  # noqa: A002 - the field's name in the form
    lang: Annotated[UiLanguage, Form()] = "en",
) -> Response:
    """Let a person in, or say that name and password don't fit."""
    services: Services = request.state.services
    address = request.client.host if request.client else ""
    try:
        cookie = await services.people.sign_in(name, password, address=address)
    except TooManyAttempts:
        return form(request, lang, problem="too_many", name=name, status=429)
    if cookie is None:
        return form(request, lang, problem="wrong", name=name, status=401)
    return signed_in(request, cookie, next)


def signed_in(request: Request, cookie: str, target: str) -> Response:
    """Go where the person wanted to, with a session."""
    services: Services = request.state.services
    response = RedirectResponse(root_of(request) + _inside(target), 303)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=services.people.sessions.seconds,
        path=root_of(request),
        secure=over_tls(request),
        httponly=True,
        samesite="lax",
    )
    return response


def over_tls(request: Request) -> bool:
    """Whether people see the console by https, from here or from a proxy in front."""
    seen: list[str] = request.state.services.settings.console.origins
    return request.url.scheme == "https" or any(origin.startswith("https:") for origin in seen[:1])


def form(
    request: Request, language: UiLanguage, *, problem: str = "", name: str = "", status: int = 200
) -> HTMLResponse:
    """The form again, saying what went wrong."""
    t: Texts = texts_of(language)
    services: Services = request.state.services
    values: dict[str, Any] = {
        "t": t,
        "languages": LANGUAGES,
        "root": root_of(request),
        "next": _inside(request.query_params.get("next", "/")),
        "problem": t(f"sign_in.{problem}") if problem else "",
        "name": name,
        "oidc": services.settings.console.oidc,
    }
    return HTMLResponse(_TEMPLATES.get_template("sign_in.html").render(values), status)


def _inside(target: str) -> str:
    """A path of the console; whatever else an address asked for leads to its first page."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if inside else "/"


def root_of(request: Request) -> str:
    """Where the console is mounted."""
    root: str = request.scope.get("root_path", "")
    return root


_TEMPLATES = Environment(
    loader=FileSystemLoader(str(files("gateway.console").joinpath("static"))), autoescape=select_autoescape()
)
