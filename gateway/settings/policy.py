"""The settings of what is answered: the policy, the gate that applies it, and the words of a refusal."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from gateway.settings.models import DetectorSettings, GateLlmSettings
from gateway.settings.types import (
    Forbidden,
    Listable,
    Name,
    NotOurs,
    Paths,
    Patterns,
    Plain,
    RuleName,
    Section,
    Text,
    Waiting,
)

__all__ = [
    "AllowSettings",
    "DenySettings",
    "ExampleSettings",
    "GateSettings",
    "ListedSettings",
    "MaySettings",
    "MustNotSettings",
    "MustSettings",
    "PolicySettings",
    "ReplySettings",
    "TopicSettings",
]


WaitingReason = Literal[
    "person_wanted", "gate_unsure", "nothing_relevant", "unsupported_statement", "unchecked", "human_first",
    "classifier_failed", "encoder_failed", "upstream_unavailable", "internal_error",
]  # fmt: skip


class ExampleSettings(Section):
    """What a class of questions looks like."""

    description: str = ""
    examples: list[Text] = []
    examples_file: Paths = []  # .txt (a line each), .csv or .jsonl with "text"


class MustSettings(ExampleSettings):
    """Questions that are ours."""

    documents: Paths = []  # folders or files: Markdown, text, HTML, .jsonl with "title" and "text"


class MaySettings(ExampleSettings):
    """Harmless questions that are not ours."""

    reply: NotOurs = {}


class TopicSettings(ExampleSettings):
    """A forbidden topic."""

    name: Name
    reply: Forbidden = {}


class MustNotSettings(ExampleSettings):
    """Questions that must not be answered."""

    reply: Forbidden = {}
    topics: list[TopicSettings] = []


class PolicySettings(Section):
    """Which questions to answer."""

    must: MustSettings = MustSettings()
    may: MaySettings = MaySettings()
    must_not: MustNotSettings = MustNotSettings()


class ListedSettings(Section):
    """What is looked for in a question, before any model."""

    name: Name | None = None  # in reasons, metrics and gate.shadow; without one, its place in the list
    text: Listable = []  # the whole question, however it is punctuated
    word: Listable = []  # a word, or several in a row
    pattern: Patterns = []  # RE2's syntax, anywhere in the question
    shadow: bool = False  # judged and told of, but not enforced

    @model_validator(mode="after")
    def _looks_for_something(self) -> Self:
        if not (self.text or self.word or self.pattern):
            raise ValueError("expected text, word or pattern")
        return self


class DenySettings(ListedSettings):
    """Questions that are refused as must not."""

    topic: Name | None = None
    reply: Forbidden = {}


class AllowSettings(ListedSettings):
    """Questions that are ours."""

    over: Literal["forbidden"] | None = None  # also where a model or a known attack forbids them

    @model_validator(mode="after")
    def _a_word_lets_no_attack_in(self) -> Self:
        if self.over and self.word:
            raise ValueError(
                "over: forbidden needs a whole question (text, or a pattern of all of it): "
                "an attack could hold any word"
            )
        return self


class GateSettings(Section):
    """How strictly the policy is applied."""

    enabled: bool = True
    max_false_refusal: float = Field(0.02, gt=0, lt=0.5)  # share of must-questions
    background: bool = True  # compare English questions with those of other helpdesks, too
    canaries: list[Text] = []  # questions that must always pass
    canaries_file: Paths = []  # the same from files: .txt (a line each), .csv or .jsonl with "text"
    canaries_every_s: float = Field(3600.0, ge=1)  # how often they are asked
    default: Literal["refuse", "escalate", "pass"] | None = None  # what happens to what nothing places
    deny: list[DenySettings] = []
    deny_file: Paths = []  # .txt (a question a line), .csv or .jsonl with the keys of `deny`
    allow: list[AllowSettings] = []
    allow_file: Paths = []
    shadow: list[RuleName] = []  # classes and rules that are judged, but not enforced
    detectors: list[DetectorSettings] = []
    unsure: Literal["people", "llm"] = "people"  # who decides where the gate can't
    llm: GateLlmSettings | None = None

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        if self.unsure == "llm" and self.llm is None:
            raise ValueError("unsure: llm needs llm: base_url and model")
        names = [detector.name for detector in self.detectors]
        if doubles := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"detectors: expected names that differ, found {', '.join(doubles)} twice")
        return self


class ReplySettings(Section):
    """What the asker reads where the policy has no words of its own, by language."""

    small_talk: Plain = {}
    thanks: Plain = {}
    goodbye: Plain = {}
    noted: Plain = {}
    correction: Plain = {}
    identity: Plain = {}
    did_you_mean: Plain = {}
    withheld: Waiting = {}
    escalated: Waiting = {}
    reasons: dict[WaitingReason, Waiting] = {}  # of a withheld or escalated question, before the two above
