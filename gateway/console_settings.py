"""The settings of the console and of those who work there."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from gateway.setting_types import Listable, Name, Patterns, Section, Text, Url

__all__ = ["ConsoleSettings", "Mode", "OidcSettings", "ReviewSettings", "TopicModeSettings"]


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
    oidc: OidcSettings | None = None


Mode = Literal["human_first", "answer_then_review", "automatic"]


class TopicModeSettings(Section):
    """Who answers new questions of a topic."""

    topic: Name
    documents: list[Text] = []  # names or patterns (fees/*) of the documents that a draft is written from
    word: Listable = []  # a word of the question, or several in a row
    pattern: Patterns = []  # RE2's syntax, anywhere in the question
    mode: Mode
    sample: float = Field(1.0, ge=0, le=1)  # of answer_then_review: the share that people read

    @model_validator(mode="after")
    def _says_what_it_is(self) -> Self:
        if not (self.documents or self.word or self.pattern):
            raise ValueError("a topic needs documents, word or pattern")
        return self


class ReviewSettings(Section):
    """What is promised to those who wait for a person, and which answers people read."""

    promise_hours: float = Field(24.0, gt=0)  # a ticket that waits longer is overdue
    two_persons: bool = False  # who wrote an entry may not activate it; another has to
    mode: Mode = "automatic"  # of new questions that are of none of the topics
    sample: float = Field(1.0, ge=0, le=1)
    modes: list[TopicModeSettings] = []  # the first that fits counts
