"""The words of a reply: canned texts by class, topic and language, and several outcomes in one message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import yaml

from classifiers.gate import GateVerdict
from gateway.domain import Offer, Outcome, Reply, Understood
from gateway.settings import PolicySettings

__all__ = ["Replies"]


class Replies:
    """The operator's words where he gave some in the asker's language, else those of `texts/replies.yaml`."""

    def __init__(self, policy: PolicySettings) -> None:
        self._by_label: dict[str, Mapping[str, str]] = {
            "may": policy.may.reply,
            "must_not": policy.must_not.reply,
        }
        self._by_topic = {topic.name: topic.reply for topic in policy.must_not.topics}

    def refusal(self, gate: GateVerdict, language: str) -> str:
        """The words for a refused question: the topic's, else the class's."""
        topic = self._by_topic.get(gate.topic or "", {})
        own = topic.get(language) or self._by_label[gate.label].get(language)
        return own or _shipped(language)[gate.label]

    def withheld(self, language: str, ticket: str, offers: Sequence[Offer] = ()) -> str:
        """RAG answered, but nobody should rely on it."""
        return _waiting("withheld", language, ticket, offers)

    def escalated(self, language: str, ticket: str, offers: Sequence[Offer] = ()) -> str:
        """A person will answer."""
        return _waiting("escalated", language, ticket, offers)

    def reply(self, understood: Understood, outcomes: Sequence[Outcome]) -> Reply:
        """One message back: small talk, one answer, or several under their questions."""
        match list(outcomes):
            case []:
                text = _shipped(understood.language)["small_talk"]
            case [only]:
                text = only.text
            case several:
                text = "\n\n".join(
                    f"{number}. {outcome.question.text}\n{outcome.text}"
                    for number, outcome in enumerate(several, 1)
                )
        return Reply(tuple(outcomes), text, understood.language)


def _waiting(outcome: str, language: str, ticket: str, offers: Sequence[Offer]) -> str:
    """The ticket, and the questions that the asker may have meant, a line each."""
    texts = _shipped(language)
    text = texts[outcome].replace("{ticket}", ticket)
    if not offers:
        return text
    return "\n".join([text, "", texts["did_you_mean"], *(f"- {offer.question}" for offer in offers)])


def _shipped(language: str) -> Mapping[str, str]:
    texts = _texts()
    return texts.get(language, texts["en"])


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        files("gateway").joinpath("texts/replies.yaml").read_text("utf-8")
    )
    return found
