"""The settings of the console, and how people sign in there."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from gateway.settings.types import Name, Section, Url

__all__ = ["ConsoleSettings", "OidcSettings"]


class OidcSettings(Section):
    """Signing in by an identity provider (extra `oidc`)."""

    issuer: Url
    client_id: str
    client_secret: SecretStr | None = None
    label: str = ""  # of the button; by default the issuer's host
    scopes: str = "openid profile email"
    name_claim: str = "preferred_username"  # falls back on email, then on sub
    roles_claim: str = "groups"  # a dot leads inwards: realm_access.roles
    roles: dict[str, Literal["viewer", "reviewer", "admin"]] = {}  # group or role there: role here
    default_role: Literal["viewer", "reviewer", "admin"] | None = None  # of those whom `roles` doesn't name
    tenant: Name = "default"


class ConsoleSettings(Section):
    """The reviewers' web pages, under /console."""

    enabled: bool = True
    secret: SecretStr | None = Field(None, min_length=32)  # signs sessions; by default one kept in SQL
    session_hours: float = Field(12.0, gt=0, le=720)
    origins: list[Url] = []  # where people see the console, if a proxy in front changes the host
    max_upload_bytes: int = Field(20_000_000, ge=100_000, le=500_000_000)  # of a file of entries to import
    oidc: OidcSettings | None = None
