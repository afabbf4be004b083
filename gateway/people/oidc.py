"""Signing in by an identity provider: OpenID Connect's code flow with PKCE (extra `oidc`)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeVar

import httpx2
from pydantic import AnyHttpUrl, BaseModel, ValidationError

from encoders.problems import first_problem
from gateway.errors import ConfigurationError, NotAllowed, NotAuthenticated
from gateway.people.users import PersonRole
from gateway.settings.console import OidcSettings

__all__ = ["Identity", "Oidc", "Started"]

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
LEEWAY_S = 60  # clocks differ
TIMEOUT_S = 10.0


class _Provider(BaseModel):
    """What a provider says of itself, as far as we go by it."""

    issuer: str
    authorization_endpoint: AnyHttpUrl
    token_endpoint: AnyHttpUrl
    jwks_uri: AnyHttpUrl


class _Keys(BaseModel):
    """The keys with which a provider signs."""

    keys: list[dict[str, Any]]


T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Started:
    """Where to send the person, and what must be known when they come back."""

    url: str
    kept: Mapping[str, str]  # state, nonce, verifier


@dataclass(frozen=True, slots=True)
class Identity:
    """Who came back, and as what."""

    subject: str  # issuer and subject: no other provider can claim it
    name: str
    role: PersonRole


class Oidc:
    """One identity provider. What it says of itself is read once."""

    def __init__(self, settings: OidcSettings) -> None:
        if find_spec("authlib") is None:
            raise ConfigurationError(
                "console.oidc needs authlib: install it with pip install 'sekisho[oidc]'"
            )
        self._settings = settings
        self.tenant = settings.tenant  # where their role holds
        self._found: _Provider | None = None

    async def start(self, back: str) -> Started:
        """Begin; `back` is the address to which the provider sends the person.

        Raises:
            NotAuthenticated: if the provider can't be asked.
        """
        found = await self._discovered()
        nonce, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        async with self._client(back) as client:
            url, state = client.create_authorization_url(
                str(found.authorization_endpoint), nonce=nonce, code_verifier=verifier
            )
        return Started(url, {"state": state, "nonce": nonce, "verifier": verifier})

    async def finish(self, back: str, answer: Mapping[str, str], kept: Mapping[str, str]) -> Identity:
        """Who this is, by what the provider sent back.

        Raises:
            NotAuthenticated: if the provider does not confirm it, or this is not the answer to our question.
            NotAllowed: if they have no role here.
        """
        state = answer.get("state", "").encode()  # which may hold anything: texts compare in ASCII only
        if not kept or not secrets.compare_digest(state, kept["state"].encode()):
            raise NotAuthenticated("the answer does not belong to a sign-in that was begun here")
        return self._identity(await self._claims(back, answer.get("code", ""), kept))

    async def _claims(self, back: str, code: str, kept: Mapping[str, str]) -> Mapping[str, Any]:
        from authlib.integrations.base_client import OAuthError
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        found = await self._discovered()
        try:
            async with self._client(back) as client:
                endpoint = str(found.token_endpoint)
                token = await client.fetch_token(endpoint, code=code, code_verifier=kept["verifier"])
            signing = await _read(str(found.jwks_uri), _Keys)
            keys = KeySet.import_key_set({"keys": signing.keys})
            read = jwt.decode(str(token["id_token"]), keys, algorithms=ALGORITHMS)
            jwt.JWTClaimsRegistry(
                leeway=LEEWAY_S,
                iss={"essential": True, "value": found.issuer},
                aud={"essential": True, "value": self._settings.client_id},
                sub={"essential": True},
                exp={"essential": True},
                nonce={"essential": True, "value": kept["nonce"]},
            ).validate(read.claims)
        except (OAuthError, JoseError, httpx2.HTTPError, KeyError, ValueError) as exc:
            raise NotAuthenticated(
                f"the identity provider did not confirm this ({type(exc).__name__})"
            ) from exc
        return read.claims

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        names = (claims.get(one) for one in (self._settings.name_claim, "email", "sub"))
        name = next(str(one) for one in names if one)
        role = self._role(claims)
        if role is None:
            raise NotAllowed(f"{name} has no role here")
        return Identity(f"{claims['iss']}#{claims['sub']}", name, role)

    def _role(self, claims: Mapping[str, Any]) -> PersonRole | None:
        """The highest role that the groups give; `roles_claim` may lead inwards: realm_access.roles."""
        found: Any = claims
        for part in self._settings.roles_claim.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        groups = [found] if isinstance(found, str) else found if isinstance(found, list) else []
        names = [one for one in groups if isinstance(one, str)]
        given = [self._settings.roles[one] for one in names if one in self._settings.roles]
        ranked: tuple[PersonRole, ...] = ("admin", "reviewer", "viewer")
        return next((one for one in ranked if one in given), self._settings.default_role)

    async def _discovered(self) -> _Provider:
        if self._found is None:
            address = f"{self._settings.issuer}/.well-known/openid-configuration"
            try:
                found = await _read(address, _Provider)
            except httpx2.HTTPError as exc:
                raise NotAuthenticated(f"{address} can't be read ({type(exc).__name__})") from exc
            except ValidationError as exc:
                problem = first_problem(exc, whole="the document")
                raise NotAuthenticated(f"{address} can't be read: {problem}") from exc
            if found.issuer.rstrip("/") != self._settings.issuer:
                raise NotAuthenticated(f"{address} speaks for another issuer")
            self._found = found
        return self._found

    def _client(self, back: str) -> Any:
        from authlib.integrations.httpx_client import AsyncOAuth2Client  # here: an extra

        secret = self._settings.client_secret
        return AsyncOAuth2Client(
            client_id=self._settings.client_id,
            client_secret=secret.get_secret_value() if secret else None,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope=self._settings.scopes,
            redirect_uri=back,
            code_challenge_method="S256",
            timeout=TIMEOUT_S,
        )


async def _read(address: str, form: type[T]) -> T:
    async with httpx2.AsyncClient(timeout=TIMEOUT_S) as http:
        return form.model_validate_json((await http.get(address)).raise_for_status().content)
