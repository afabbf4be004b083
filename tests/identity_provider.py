"""A small OpenID provider on the loopback interface. It asks nobody for a password: it says who the test told it to say."""

from __future__ import annotations

import base64
import hashlib
import time
from typing import Any

from fastapi import FastAPI, Request
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.serving import Serving

__all__ = ["CLIENT", "SECRET", "IdentityProvider"]

CLIENT, SECRET = "sekisho", "a-client-secret"


class IdentityProvider(Serving):
    """`claims` go into the next token; `spoil` changes the token's own claims, as a broken or wicked provider would.

    `instead` has whole replies by path, which take the place of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.claims: dict[str, Any] = {}
        self.spoil: dict[str, Any] = {}
        self.foreign_key = False
        self.instead: dict[str, Any] = {}
        self._key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self._asked: dict[str, dict[str, str]] = {}

    @property
    def issuer(self) -> str:
        return self.origin

    def app(self) -> FastAPI:
        app = FastAPI()
        app.get("/.well-known/openid-configuration")(self._describe)
        app.get("/authorize")(self._authorize)
        app.post("/token")(self._token)
        app.get("/keys")(self._keys)
        return app

    async def _describe(self) -> Any:
        return self._said("/.well-known/openid-configuration", self.description)

    @property
    def description(self) -> dict[str, Any]:
        """What it says of itself."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        if asked.get("client_id") != CLIENT or asked.get("code_challenge_method") != "S256":
            return JSONResponse({"error": "invalid_request"}, 400)
        code = f"code-{len(self._asked)}"
        self._asked[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?code={code}&state={asked['state']}", 302)

    async def _token(self, request: Request) -> Response:
        form = await request.form()
        asked = self._asked.pop(str(form["code"]), None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(str(form["code_verifier"]).encode()).digest())
        if (
            asked is None
            or request.headers.get("authorization") != f"Basic {basic}"
            or challenge.rstrip(b"=").decode() != asked["code_challenge"]
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        key = RSAKey.generate_key(2048, {"kid": "one"}) if self.foreign_key else self._key
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims | self.claims | self.spoil, key)
        given = {"access_token": "x", "token_type": "Bearer", "id_token": token}
        return JSONResponse(self._said("/token", given))

    async def _keys(self) -> Any:
        return self._said("/keys", {"keys": [self._key.as_dict(private=False)]})

    def _said(self, path: str, own: Any) -> Any:
        return self.instead.get(path, own)
