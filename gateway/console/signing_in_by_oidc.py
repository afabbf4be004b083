"""Signing in by an identity provider: away with a question, back with the answer."""

from __future__ import annotations

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from gateway.assembly import Services
from gateway.console.signing_in import form, over_tls, root_of, signed_in
from gateway.console.texts import UiLanguage, preferred
from gateway.errors import Conflict, InvalidRequest, NotAllowed, NotAuthenticated, UserDisabled
from gateway.people.oidc import Oidc

__all__ = ["back", "router", "start"]

COOKIE = "sekisho_oidc"
LASTS_S = 600  # a person may have to find their telephone

router = APIRouter(prefix="/oidc")


@router.get("/start")
async def start(request: Request, next: str = "/") -> Response:  # noqa: A002 - as in the form
    """Send the person to their provider."""
    services, oidc = _provider(request)
    try:
        begun = await oidc.start(_address(request))
    except NotAuthenticated as exc:
        structlog.get_logger("sekisho.people").warning("sign-in failed", reason=str(exc))
        return form(request, _language(request), problem="oidc_failed", status=502)
    response = RedirectResponse(begun.url, 303)
    kept = services.people.sessions.sealed({**begun.kept, "next": next})
    response.set_cookie(
        COOKIE,
        kept,
        max_age=LASTS_S,
        path=f"{root_of(request)}/oidc",
        secure=over_tls(request),
        httponly=True,
        samesite="lax",
    )
    return response


@router.get("/back")
async def back(request: Request) -> Response:
    """Take the provider's answer, and let the person in as what it says they are."""
    services, oidc = _provider(request)
    kept = services.people.sessions.unsealed(request.cookies.get(COOKIE), max_age_s=LASTS_S)
    try:
        found = await oidc.finish(_address(request), request.query_params, kept)
        tenant = oidc.tenant
        user = await services.people.users.welcome(found.subject, found.name, tenant=tenant, role=found.role)
    except UserDisabled:
        return form(request, _language(request), problem="disabled", status=403)
    except NotAllowed:
        return form(request, _language(request), problem="no_role", status=403)
    except (NotAuthenticated, Conflict, InvalidRequest) as exc:
        # It says which name is taken, or can't be one: an admin has to act.
        structlog.get_logger("sekisho.people").warning("sign-in failed", reason=str(exc))
        return form(request, _language(request), problem="oidc_failed", status=401)
    response = signed_in(request, await services.people.sessions.open(user, tenant), kept.get("next", "/"))
    response.delete_cookie(COOKIE, path=f"{root_of(request)}/oidc")
    return response


def _provider(request: Request) -> tuple[Services, Oidc]:
    services: Services = request.state.services
    assert services.people.oidc is not None  # noqa: S101 - these routes are there only where one is configured
    return services, services.people.oidc


def _address(request: Request) -> str:
    """Where the provider sends the person back to: the address at which people see the console."""
    seen = request.state.services.settings.console.origins
    own = f"{request.url.scheme}://{request.url.netloc}"
    return f"{seen[0] if seen else own}{root_of(request)}/oidc/back"


def _language(request: Request) -> UiLanguage:
    return preferred(request.headers.get("accept-language", ""))
