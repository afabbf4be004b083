"""A library's helpdesk with people at its console, started once for the tests that look at it in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chatbot import Chatbot
from tests.console.browsing import PASSWORDS, Chromium
from tests.gateway.conftest import POLICY, UPSTREAM
from tests.gateway.running import Gateway, settings
from tests.identity_provider import CLIENT, SECRET, IdentityProvider

OIDC = """{{oidc: {{issuer: "{issuer}", client_id: {client}, client_secret: "${{TEST_OIDC}}", label: 会社のアカウント, roles: {{helpdesk: reviewer}}}}}}"""
ROLES = {"sato": "reviewer", "suzuki": "reviewer", "viewer": "viewer", "boss": "admin", "kimura": "reviewer"}


@pytest.fixture(scope="session")
def chatbot() -> Iterator[Chatbot]:
    with Chatbot() as bot:
        yield bot


@pytest.fixture(scope="session")
def identity_provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture(scope="session")
def desk(
    chatbot: Chatbot, identity_provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """The gateway with its console. Tests share it, so each works on tickets of its own."""
    folder = tmp_path_factory.mktemp("desk")
    text = POLICY + UPSTREAM.format(url=chatbot.base_url)
    console = OIDC.format(issuer=identity_provider.issuer, client=CLIENT)
    with Gateway(settings(folder, text, console=console, TEST_OIDC=SECRET)) as running:
        for name, role in ROLES.items():
            running.do(
                running.services.people.users.add(
                    name,
                    tenant="default",
                    role=role,
                    password=PASSWORDS[name],  # type: ignore[arg-type]
                )
            )
        yield running


@pytest.fixture(scope="module")  # while it runs, Playwright's loop is this thread's: no async test beside it
def chromium() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser
