"""The words of a reply: canned texts by class, topic and language, and several outcomes in one message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import yaml

from classifiers.gate import GateVerdict
from gateway.domain import (
    FILTERED,
    Choice,
    FrontEndTask,
    Offer,
    Outcome,
    Question,
    Reply,
    Understood,
)
from gateway.settings import PolicySettings, ReplySettings
from gateway.settings.templates import fill
from languages.identification import language_of

__all__ = ["Replies"]

_NO_WORDS = ReplySettings()
_TELLS_LANGUAGE = 200  # characters of a reply to a front end
_NOTHING: Mapping[str, str] = MappingProxyType({})


Words = Mapping[str, str]  # templates by language


class Replies:
    """The operator's words where they gave some in the asker's language, else those of `texts/replies.yaml`.

    The most particular come first; a template that names what is not known now is passed over.
    """

    def __init__(
        self,
        policy: PolicySettings,
        own: ReplySettings = _NO_WORDS,
        *,
        by_rule: Mapping[str, Words] | None = None,
    ) -> None:
        """`by_rule` holds the words of items of the deny list."""
        self._by_label: dict[str, Words] = {"may": policy.may.reply, "must_not": policy.must_not.reply}
        self._by_topic = {topic.name: topic.reply for topic in policy.must_not.topics}
        self._by_rule = by_rule or {}
        self._own = own

    def refusal(self, gate: GateVerdict, question: Question) -> str:
        """The words for a refused question: of the item that denies it, of its topic, of its class."""
        ours = gate.nearest_ours
        known = {
            "question": question.text,
            "topic": (gate.topic or "").replace("_", " "),
            "nearest": ours.text if ours and ours.kind in ("example", "entry") else "",
        }
        words = (
            self._by_rule.get(gate.rule, {}),
            self._by_topic.get(gate.topic or "", {}),
            self._by_label[gate.label],
        )
        return _first(words, gate.label, question.language, known)

    def waiting(
        self,
        outcome: Literal["withheld", "escalated"],
        question: Question,
        ticket: str,
        reason: str,
        offers: Sequence[Offer] = (),
    ) -> str:
        """The ticket, and the questions that the asker may have meant, a line each."""
        by_reason: Words = next((own for name, own in self._own.reasons.items() if name == reason), _NOTHING)
        words: tuple[Words, ...] = (by_reason, getattr(self._own, outcome))
        known = {"ticket": ticket, "question": question.text}
        shipped = reason if reason in _shipped("en") else outcome
        text = _first(words, shipped, question.language, known)
        if not offers:
            return text
        asks = _first((self._own.did_you_mean,), "did_you_mean", question.language)
        return "\n".join([text, "", asks, *(f"- {offer.question}" for offer in offers)])

    def told(self, language: str, question: str, ticket: str, answer: str) -> str:
        """What a person answered to an earlier question."""
        return _first((), "told", language, {"question": question, "ticket": ticket, "answer": answer})

    def reply(self, understood: Understood, outcomes: Sequence[Outcome], *, choices: int = 1) -> Reply:
        """One message back: small talk, one answer, or several under their questions."""
        if not outcomes:
            kind = understood.small_talk
            text = _first((getattr(self._own, kind),), kind, understood.language)
            said = [Choice(text, filtered=False)] * choices
        else:
            text = _numbered(outcomes, [outcome.text for outcome in outcomes])
            said = [_choice(outcomes, number) for number in range(choices)]
        return Reply(tuple(outcomes), text, understood.language, choices=tuple(said) if choices > 1 else ())

    def done(self, task: FrontEndTask, *, choices: int = 1) -> Reply:
        """The message back to a front end that wanted something done beside the chat."""
        said = [Choice(task.reply, filtered=False)] * choices if choices > 1 else []
        language = language_of(task.reply[:_TELLS_LANGUAGE], default="en")
        return Reply((), task.reply, language, choices=tuple(said), unasked="front_end_task")


def _numbered(outcomes: Sequence[Outcome], texts: Sequence[str]) -> str:
    """The only text, or each under its question."""
    if len(texts) == 1:
        return texts[0]
    both = enumerate(zip(outcomes, texts, strict=True), 1)
    return "\n\n".join(f"{number}. {outcome.question.text}\n{text}" for number, (outcome, text) in both)


def _choice(outcomes: Sequence[Outcome], number: int) -> Choice:
    """One choice of a message; where a question has fewer, its first stands for the others."""
    said = [_said(outcome, number) for outcome in outcomes]
    text = _numbered(outcomes, [one.text for one in said])
    return Choice(text, any(one.filtered for one in said), any(one.cut_off for one in said))


def _said(outcome: Outcome, number: int) -> Choice:
    if not outcome.choices:
        return Choice(outcome.text, outcome.name in FILTERED, outcome.cut_off)
    return outcome.choices[number if number < len(outcome.choices) else 0]


def _first(words: Iterable[Words], shipped: str, language: str, known: Mapping[str, str] = _NOTHING) -> str:
    """The first template of the language that can be filled, at last ours."""
    own = (fill(by_language.get(language, ""), known) for by_language in words)
    return next(filter(None, own), None) or fill(_shipped(language)[shipped], known) or ""


def _shipped(language: str) -> Mapping[str, str]:
    texts = _texts()
    return texts.get(language, texts["en"])


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        files("gateway").joinpath("texts/replies.yaml").read_text("utf-8")
    )
    return found
