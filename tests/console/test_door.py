"""Nobody comes in without a session, and no other site acts in a person's name."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest
from starlette.requests import Request
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from gateway.app import create_app
from gateway.console.signing_in import signed_in
from tests.console.browsing import PASSWORDS
from tests.gateway.running import Gateway

FORM = {"name": "sato", "password": PASSWORDS["sato"]}


def _cookie(desk: Gateway) -> str:
    with desk.http(None) as http:
        reply = http.post("/console/sign-in", data=FORM)
    assert reply.status_code == 303, reply.text
    return reply.headers["set-cookie"].partition(";")[0]


def test_a_page_leads_to_signing_in_and_back(desk: Gateway) -> None:
    with desk.http(None) as http:
        reply = http.get("/console/tickets/T-1?x=1")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/console/sign-in?next=/tickets/T-1%3Fx%3D1"


def test_signing_in_leads_nowhere_but_into_the_console(desk: Gateway) -> None:
    with desk.http(None) as http:
        for target in ("https://evil.example/", "//evil.example", "/\\evil.example"):
            reply = http.post("/console/sign-in", data=FORM | {"next": target})
            assert reply.headers["location"] == "/console/"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(desk: Gateway) -> None:
    with desk.http(None) as http:
        cookie = http.post("/console/sign-in", data=FORM).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/console" in cookie


@pytest.mark.parametrize(
    ("scheme", "origins", "secure"),
    [
        ("https", [], True),
        ("http", ["https://desk.example"], True),  # behind a proxy that ends TLS
        ("http", ["http://127.0.0.1:8080"], False),
        ("http", [], False),
    ],
)
def test_the_cookie_travels_by_tls_only_where_the_console_does(
    desk: Gateway, scheme: str, origins: list[str], secure: bool
) -> None:
    console = desk.services.settings.console.model_copy(update={"origins": origins})
    services = replace(desk.services, settings=desk.services.settings.model_copy(update={"console": console}))
    scope = {"type": "http", "method": "POST", "path": "/console/sign-in", "root_path": "/console"}
    seen = {"scheme": scheme, "server": ("desk", 80), "headers": [], "state": {"services": services}}
    cookie = signed_in(Request({**scope, **seen}), "s", "/").headers["set-cookie"]
    assert ("secure" in cookie.lower()) is secure


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
    ids=["another origin", "an opaque origin", "cross-site"],
)
def test_another_sites_form_is_refused(desk: Gateway, headers: dict[str, str]) -> None:
    with desk.http(None) as http:
        assert http.post("/console/sign-in", data=FORM, headers=headers).status_code == 403


def test_a_stranger_uploads_nothing(desk: Gateway) -> None:
    with desk.http(None) as http:
        assert http.post("/console/_nicegui/client/1/upload/2", files={"file": b"x"}).status_code == 403


def test_a_stranger_makes_no_page_of_what_is_not_there(
    desk: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    """NiceGUI's would be kept for a minute, and its address stood in the log as it came."""
    with desk.http(None) as http:
        for path in ("/console/_nicegui/x", "/console/sign-in/x"):
            reply = http.get(path)
            assert (reply.status_code, reply.text) == (404, "not found")
    assert not caplog.records


def test_every_page_forbids_addresses_that_are_not_ours(desk: Gateway) -> None:
    with desk.http(None) as http:
        reply = http.get("/console/", headers={"cookie": _cookie(desk)})
    assert reply.status_code == 200
    assert reply.headers["content-security-policy"].startswith("default-src 'self'")
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("origin", "with_cookie", "let_in"),
    [("https://evil.example", True, False), (None, False, False), ("ours", True, True)],
    ids=["another site's page", "nobody's session", "our own page"],
)
async def test_a_websocket_needs_our_origin_and_a_session(
    desk: Gateway, origin: str | None, with_cookie: bool, let_in: bool
) -> None:
    address = desk.url.replace("http", "ws") + "/console/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    headers = {"cookie": await asyncio.to_thread(_cookie, desk)} if with_cookie else {}
    from_where = desk.url if origin == "ours" else origin
    opening = connect(address, additional_headers=headers, origin=from_where, proxy=None)  # type: ignore[arg-type]
    if not let_in:
        with pytest.raises(InvalidStatus, match="403"):
            await opening
        return
    async with opening as socket:
        assert str(await socket.recv()).startswith("0{")  # Engine.IO's greeting


def test_importing_the_gateway_starts_nothing_of_the_console() -> None:
    script = "import sys, gateway.cli, gateway.app; sys.exit('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_second_app_leaves_the_first_ones_console_as_it_was(desk: Gateway) -> None:
    create_app(desk.services)
    with desk.http(None) as http:
        page = http.get("/console/", headers={"cookie": _cookie(desk)})
        assert page.status_code == 200
        assert "x-request-id" in page.headers
        assert http.get("/console/no-such-page", headers={"cookie": _cookie(desk)}).status_code == 404


def test_the_console_can_be_switched_off(desk: Gateway) -> None:
    settings = desk.services.settings
    off = settings.model_copy(update={"console": settings.console.model_copy(update={"enabled": False})})
    app = create_app(replace(desk.services, settings=off))
    assert not [route for route in app.routes if getattr(route, "path", "") == "/console"]
