"""What people write in each language, read from `phrases/*.yaml` and compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from gateway.domain import SmallTalk
from languages.identification import Language

__all__ = ["Wording", "wording"]

_NEVER = "(?!)"
_NOISE = ("thanks", "goodbyes", "noted", "identity")  # beside a question; "that's wrong" may belong to it
_KINDS: dict[SmallTalk, str] = {
    "correction": "corrections",
    "goodbye": "goodbyes",
    "thanks": "thanks",
    "noted": "noted",
    "identity": "identity",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The expressions of one language. Those named `…_start` match at the beginning only."""

    language: Language
    opening_start: re.Pattern[str]  # greetings and fillers before a question
    announcing_start: re.Pattern[str]  # says that another subject comes: "by the way, …"
    additive_start: re.Pattern[str]  # joins another question to the one before: "also, …"
    closing_end: re.Pattern[str]  # thanks after it
    noise: re.Pattern[str]  # a whole sentence that asks nothing
    kinds: Mapping[SmallTalk, re.Pattern[str]]  # sentences of small talk that get words of their own
    signature: re.Pattern[str]  # the line that begins a signature
    question_start: re.Pattern[str]
    question: re.Pattern[str]
    question_end: re.Pattern[str]  # how a clause ends that is a question, not a part of one
    background_end: re.Pattern[str]  # how a sentence ends that after a question only says why it is asked
    answer: re.Pattern[str]  # a whole message that replies to a question of ours
    person: re.Pattern[str]  # a whole sentence that asks for somebody to talk to
    despair: re.Pattern[str]  # anywhere in a sentence: who says so needs somebody to talk to
    open_offer: re.Pattern[str]  # a question of ours that any subject may follow: "anything else?"
    exempt: re.Pattern[str]  # looks like a reference, but is none
    leaning_start: re.Pattern[str]  # continues what was said before
    elliptic_start: re.Pattern[str]  # a topic without a question: "what about …"
    pointer: re.Pattern[str]  # points at earlier turns, whatever stands around it
    anaphor: re.Pattern[str]  # points at something, perhaps in the same text
    possessive_start: re.Pattern[str]  # of the anaphors: points at the nearest thing before it
    hint: re.Pattern[str]  # may point at earlier turns
    boundary: re.Pattern[str]  # separates clauses
    comparison: re.Pattern[str]  # compares with something unsaid
    fragment: re.Pattern[str]  # a few words without a verb
    names: re.Pattern[str]  # says by its form what it is about
    mine: re.Pattern[str]  # the asker's own affairs
    indefinite: re.Pattern[str]  # "a passport": any
    generic: frozenset[str]  # words that name no subject of their own
    # The same where no spaces part the words. A single kanji must not cut 日本 in two; in Chinese the
    # single characters are what parts the words.
    generic_runs: re.Pattern[str]

    @property
    def glue(self) -> str:
        """What stands between two sentences."""
        return " " if self.language == "en" else ""


@cache
def wording(language: Language) -> Wording:
    """The wording of a language."""
    source = files("gateway.understanding") / "phrases" / f"{language}.yaml"
    data: dict[str, Any] = yaml.safe_load(source.read_text(encoding="utf-8"))
    noise, question, dependence = data["noise"], data["question"], data["dependence"]
    edge = r"\b" if language == "en" else ""
    generic = dependence["generic"].split()
    return Wording(
        language=language,
        opening_start=_any(noise["openings"]),
        announcing_start=_any(noise["announcements"], before="^", after="+"),
        additive_start=_any(noise["additives"], before="^"),
        closing_end=_any(noise["closings"], after=r"\s*$"),
        noise=_any([*noise["alone"], *(one for name in _NOISE for one in noise["small_talk"][name])]),
        kinds={kind: _any(noise["small_talk"][name]) for kind, name in _KINDS.items()},
        signature=re.compile(rf"\s*(?:{noise['signature']})\s*$", re.IGNORECASE),
        question_start=_any(question["begins"]),
        question=_any(question["anywhere"]),
        question_end=_any(question.get("ends", []), after="$"),
        background_end=_any(question.get("background", []), after="$"),
        answer=_any(data["answers"]),
        person=_any(data["person"]),
        despair=_any(data["despair"]),
        open_offer=_any(data["open_offers"]),
        exempt=_any(dependence["exempt"], before=edge),
        leaning_start=_any(dependence["openers"]),
        elliptic_start=_any(dependence["elliptic"]),
        pointer=_any(dependence["pointers"], before=edge, after=edge),
        anaphor=_any(dependence["anaphora"], before=edge, after=edge),
        possessive_start=_any(dependence.get("possessives", [])),
        hint=_any(dependence.get("hints", []), before=edge, after=edge),
        boundary=_any(dependence["boundary"]),
        comparison=_any(dependence["comparisons"], before=edge),
        fragment=re.compile(dependence["fragment"], re.IGNORECASE),
        names=_any(dependence["names"]),
        mine=_any(dependence.get("mine", [])),
        indefinite=_any(dependence.get("indefinite", [])),
        generic=frozenset(generic),
        generic_runs=_words([word for word in generic if len(word) > 1 or language == "zh"]),
    )


def _words(words: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile("|".join(longest_first) or _NEVER)


def _any(expressions: Sequence[str], *, before: str = "", after: str = "") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(expressions) or _NEVER}){after}", re.IGNORECASE)
