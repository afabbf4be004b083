"""The sections `delivery` and what belongs to it."""

from __future__ import annotations

import base64
import binascii
from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from gateway.settings.types import Name, Section, Url

__all__ = ["DeliverySettings", "NoticeSettings", "WebhookSettings"]


class WebhookSettings(Section):
    """An address on the asker's side that is told of tickets; signed as Standard Webhooks says."""

    name: Name
    url: Url
    secret: SecretStr  # whsec_ and base64 of 24 to 64 random bytes
    previous_secret: SecretStr | None = None  # signs beside it while the receiver changes to the new one
    tenant: Name = "default"
    events: list[Literal["answered", "dismissed"]] = ["answered"]

    @field_validator("secret", "previous_secret")
    @classmethod
    def _signs(cls, secret: SecretStr | None) -> SecretStr | None:
        given = secret.get_secret_value() if secret else ""
        if secret and not _is_signing_secret(given):
            raise ValueError("expected whsec_ and the base64 of 24 to 64 random bytes")
        return secret


class NoticeSettings(Section):
    """A service that tells the people who answer what waits for them (extra `notices`)."""

    name: Name
    address: SecretStr  # apprise's form: slack://…, msteams://…, mailto://…
    tenant: Name = "default"
    language: Literal["en", "ja", "zh"] = "en"
    events: list[Literal["new", "overdue", "answered"]] = ["new", "overdue"]
    every_s: float = Field(300.0, ge=1)  # at most one message in this time


class DeliverySettings(Section):
    """How an answer reaches whoever asked, besides their asking for the ticket."""

    webhooks: list[WebhookSettings] = []
    notices: list[NoticeSettings] = []  # none: nobody is written to
    timeout_s: float = Field(10.0, gt=0, le=60)  # of one attempt
    in_conversation: bool = False  # whether the asker's next message is answered with it, too

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [*(one.name for one in self.webhooks), *(one.name for one in self.notices)]
        if len(set(names)) < len(names):
            raise ValueError("webhooks, notices: each needs a name of its own")
        return self


def _is_signing_secret(secret: str) -> bool:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    except binascii.Error:
        return False
    return secret.startswith("whsec_") and 24 <= len(key) <= 64
