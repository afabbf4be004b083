"""Signing in by an identity provider, against a small one that keeps to the protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from gateway.errors import NotAllowed, NotAuthenticated
from gateway.people.oidc import Identity, Oidc
from gateway.settings.console import OidcSettings
from tests.identity_provider import CLIENT, SECRET, IdentityProvider

BACK = "http://127.0.0.1:1/console/oidc/back"
TANAKA = {"sub": "7", "preferred_username": "tanaka", "groups": ["staff", "helpdesk"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


@pytest.fixture(autouse=True)
def _anew(provider: IdentityProvider) -> None:
    provider.claims, provider.spoil, provider.foreign_key = dict(TANAKA), {}, False
    provider.instead = {}


def _oidc(provider: IdentityProvider, **settings: Any) -> Oidc:
    given: dict[str, Any] = {"roles": {"helpdesk": "reviewer", "bosses": "admin"}, **settings}
    return Oidc(
        OidcSettings(issuer=provider.issuer, client_id=CLIENT, client_secret=SecretStr(SECRET), **given)
    )


async def _back(oidc: Oidc) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What the provider's redirect brings, and what was kept meanwhile."""
    begun = await oidc.start(BACK)
    async with httpx2.AsyncClient(trust_env=False) as browser:
        reply = await browser.get(begun.url)
    assert reply.status_code == 302, reply.text
    return httpx2.URL(reply.headers["location"]).params, begun.kept


async def _identity(oidc: Oidc) -> Identity:
    answer, kept = await _back(oidc)
    return await oidc.finish(BACK, answer, kept)


async def test_a_person_comes_back_with_name_and_role(provider: IdentityProvider) -> None:
    assert await _identity(_oidc(provider)) == Identity(f"{provider.issuer}#7", "tanaka", "reviewer")


async def test_the_highest_of_several_roles_counts_and_a_claim_may_lie_deeper(
    provider: IdentityProvider,
) -> None:
    provider.claims = {"sub": "7", "email": "t@example.com", "realm": {"roles": ["helpdesk", "bosses"]}}
    found = await _identity(_oidc(provider, roles_claim="realm.roles"))
    assert (found.name, found.role) == ("t@example.com", "admin")


async def test_who_has_no_role_is_not_let_in_unless_everybody_has_one(provider: IdentityProvider) -> None:
    provider.claims = {"sub": "8", "preferred_username": "guest", "groups": ["others"]}
    with pytest.raises(NotAllowed):
        await _identity(_oidc(provider))
    assert (await _identity(_oidc(provider, default_role="viewer"))).role == "viewer"


@pytest.mark.parametrize(
    "spoil",
    [
        {"iss": "https://another.example"},
        {"aud": "another-client"},
        {"nonce": "of another sign-in"},
        {"exp": int(time.time()) - 3_600},
        {"sub": None},
    ],
    ids=["another issuer", "another client", "another sign-in", "too old", "nobody"],
)
async def test_a_token_that_is_not_for_us_lets_nobody_in(
    provider: IdentityProvider, spoil: dict[str, Any]
) -> None:
    provider.spoil = spoil
    with pytest.raises(NotAuthenticated):
        await _identity(_oidc(provider))


async def test_a_token_signed_by_somebody_else_lets_nobody_in(provider: IdentityProvider) -> None:
    provider.foreign_key = True
    with pytest.raises(NotAuthenticated):
        await _identity(_oidc(provider))


async def test_an_answer_to_another_question_or_a_second_time_lets_nobody_in(
    provider: IdentityProvider,
) -> None:
    oidc = _oidc(provider)
    answer, kept = await _back(oidc)
    with pytest.raises(NotAuthenticated):
        await oidc.finish(BACK, answer, {**kept, "state": "another"})
    with pytest.raises(NotAuthenticated):
        await oidc.finish(BACK, answer, {})
    await oidc.finish(BACK, answer, kept)
    with pytest.raises(NotAuthenticated):
        await oidc.finish(BACK, answer, kept)


@pytest.mark.parametrize("state", ["état", "状態", "", "\x00"])
async def test_whatever_an_answer_says_of_its_question_it_is_only_another(
    provider: IdentityProvider, state: str
) -> None:
    oidc = _oidc(provider)
    _, kept = await _back(oidc)
    with pytest.raises(NotAuthenticated, match="was begun here"):
        await oidc.finish(BACK, {"state": state, "code": "x"}, kept)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([], "the document: Input should be an object"),
        ("x", "the document: Input should be an object"),
        ({"issuer": None}, "issuer: Input should be a valid string"),
        ({"authorization_endpoint": None}, "authorization_endpoint: URL input should be"),
        ({"authorization_endpoint": "/authorize"}, "authorization_endpoint: Input should be a valid URL"),
        ({"token_endpoint": 7}, "token_endpoint: URL input should be"),
        ({"jwks_uri": "http://[::1"}, "jwks_uri: Input should be a valid URL"),
        ({"issuer": "https://another.example"}, "speaks for another issuer"),
    ],
)
async def test_what_a_provider_says_of_itself_is_checked_by_field(
    provider: IdentityProvider, said: Any, told: str
) -> None:
    whole = provider.description | said if isinstance(said, dict) else said
    provider.instead = {"/.well-known/openid-configuration": whole}
    with pytest.raises(NotAuthenticated, match=told):
        await _oidc(provider).start(BACK)


@pytest.mark.parametrize("field", ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"])
async def test_what_a_provider_does_not_say_of_itself_is_named(
    provider: IdentityProvider, field: str
) -> None:
    without = {name: value for name, value in provider.description.items() if name != field}
    provider.instead = {"/.well-known/openid-configuration": without}
    with pytest.raises(NotAuthenticated, match=f"{field}: Field required"):
        await _oidc(provider).start(BACK)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        *(("/token", said) for said in ([], "x", None, {"id_token": None}, {"id_token": {}}, {})),
        *(("/keys", said) for said in ([], "x", None, {}, {"keys": 1}, {"keys": [1]}, {"keys": [{}]})),
    ],
)
async def test_a_provider_that_does_not_keep_to_the_protocol_lets_nobody_in(
    provider: IdentityProvider, path: str, said: Any
) -> None:
    provider.instead = {path: said}
    with pytest.raises(NotAuthenticated, match="did not confirm this"):
        await _identity(_oidc(provider))


async def test_a_group_that_is_no_name_gives_no_role(provider: IdentityProvider) -> None:
    provider.claims = TANAKA | {"groups": [{"id": 1}, ["bosses"], 7, None, "helpdesk"]}
    assert (await _identity(_oidc(provider))).role == "reviewer"


async def test_a_provider_that_is_not_there_is_told(provider: IdentityProvider) -> None:
    settings = OidcSettings(issuer="http://127.0.0.1:9", client_id=CLIENT)
    with pytest.raises(NotAuthenticated, match="can't be read"):
        await Oidc(settings).start(BACK)
