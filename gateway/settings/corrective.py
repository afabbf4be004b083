"""The settings of Corrective RAG: what becomes of the passages that a search in our own documents found."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from gateway.settings.models import LlmSettings
from gateway.settings.types import Section, Url

__all__ = ["CorrectiveSettings", "WebSearchSettings"]

Host = Annotated[str, StringConstraints(to_lower=True, pattern=r"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$")]


class WebSearchSettings(Section):
    """A search engine that speaks SearXNG's JSON, asked where the documents don't answer."""

    url: Url  # of the engine; /search is added
    api_key: SecretStr | None = None  # sent as a bearer token, where a proxy in front of the engine wants one
    allowed_hosts: list[Host] = Field(
        default=[], max_length=1000
    )  # pages of others are dropped; []: any host
    results: int = Field(5, ge=1, le=20)
    timeout_s: float = Field(4.0, gt=0, le=60)
    max_bytes: int = Field(1_000_000, ge=1_000, le=20_000_000)  # of a reply; more is not read
    engines: str = ""  # SearXNG's own names, separated by commas
    rewrite: Literal["keywords", "llm"] = "keywords"


class CorrectiveSettings(Section):
    """How passages are judged, what of them an answer is written from, and where else to look."""

    evaluator: Literal["off", "local", "llm"] = "off"  # off: passages are judged locally, and stay whole
    llm: LlmSettings | None = None  # evaluator: llm, web.rewrite: llm
    correct_from: float | None = Field(None, ge=0, le=1)  # None: the evaluator's own
    incorrect_below: float | None = Field(None, ge=0, le=1)
    reads_ambiguous: bool | None = None  # None: with `writer`, which can say that they don't answer
    strips_from: float = Field(0.3, ge=0, le=1)  # of the best strip's share of the question; 0 keeps all
    web: WebSearchSettings | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if self.evaluator == "llm" and self.llm is None:
            raise ValueError("evaluator: llm needs llm: base_url and model")
        if self.web and self.web.rewrite == "llm" and self.llm is None:
            raise ValueError("web.rewrite: llm needs llm: base_url and model")
        if self.evaluator == "off" and self.web is not None:
            raise ValueError("web needs evaluator: local or llm")
        cuts = (self.incorrect_below, self.correct_from)
        if None not in cuts and cuts[0] > cuts[1]:  # type: ignore[operator]  # neither is None here
            raise ValueError("incorrect_below must not be above correct_from")
        return self
