"""Whether a sentence claims anything: greetings, offers, questions, lead-ins and plain refusals do not.

What is taken for no claim leaves without a check, so a doubt counts as a claim: a figure, an address or a
contrast ("but …") makes any of them a statement again.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from classifiers.faithfulness.statements.asides import asides
from classifiers.faithfulness.statements.citations import MARK, NUMBERED
from languages.identification import script_language

__all__ = ["SpeechAct", "filled", "final_mark", "plain_sentence", "refers", "ruled_act", "speech_act"]

SpeechAct = Literal["claim", "greeting", "offer", "refusal", "lead_in", "question", "aside"]
LONGEST_ASIDE = 200  # characters
ORDER: tuple[SpeechAct, ...] = ("greeting", "refusal", "offer", "lead_in", "question")
REFERRAL, COURTESY = "referral", "courtesy"  # rules, of which no model knows
DECORATION = re.compile(rf"[*_`~#]+|{MARK.pattern}|[\U0001F300-\U0001FAFF☺️]", re.IGNORECASE)
SOURCE = re.compile(rf"{NUMBERED}|\(?(?:出典|来源|資料|文書|资料|文档)\s*\d+\)?", re.IGNORECASE)
FINAL_MARKS = " \t\n.。!！…,，、:：;；)）\"'”’」』"


@dataclass(frozen=True, slots=True)
class _Rule:
    whole: tuple[re.Pattern[str], ...]
    start: tuple[re.Pattern[str], ...]
    find: tuple[re.Pattern[str], ...]
    veto: tuple[re.Pattern[str], ...]
    softened: tuple[re.Pattern[str], ...]  # "I am sorry, but": no contrast
    longest: int
    announces: bool  # before a colon a figure is no reason for a check: "The steps for Windows 10:"

    def holds(self, text: str, *, announcing: bool = False) -> bool:
        if len(text) > self.longest:
            return False
        matched = (
            any(p.fullmatch(text) for p in self.whole)
            or any(p.match(text) for p in self.start)
            or any(p.search(text) for p in self.find)
        )
        return matched and ((announcing and self.announces) or not self._vetoed(text))

    def _vetoed(self, text: str) -> bool:
        for pattern in self.softened:
            text = pattern.sub("", text)
        return any(p.search(text) for p in self.veto)


def speech_act(sentence: str) -> SpeechAct:
    """What a sentence does; "claim" unless it surely does something else.

    A rule proposes, a trained model confirms; of what no rule knows the model decides alone, if it is surer.
    """
    plain = plain_sentence(sentence)
    if not any(c.isalnum() for c in plain):
        return "lead_in"  # marks alone
    if _rules()[COURTESY].holds(plain):
        return "greeting"
    act = ruled_act(sentence, plain)
    doubtful = len(plain) > LONGEST_ASIDE or any(p.search(plain) for p in _doubts())
    if act == "claim" and doubtful:
        return "claim"
    model = asides()[script_language(plain)]
    probability = model.probability(plain + final_mark(sentence))
    if act != "claim":
        return act if probability >= model.confirms else "claim"
    return "aside" if probability >= model.alone else "claim"


def refers(sentence: str) -> bool:
    """Whether it sends the asker to somebody, and says nothing else: "please contact our service"."""
    return _rules()[REFERRAL].holds(plain_sentence(sentence))


def plain_sentence(sentence: str) -> str:
    """A sentence without emphasis, citations and final marks, folded."""
    plain = (
        unicodedata.normalize("NFKC", DECORATION.sub(" ", SOURCE.sub(" passages ", sentence)))
        .lower()
        .replace("’", "'")
    )
    return " ".join(plain.split()).strip(FINAL_MARKS)


def final_mark(sentence: str) -> str:
    """What a sentence ends in, as far as it tells what it does: a question mark, a colon."""
    last = sentence.rstrip(" *_")[-1:]
    return "?" if last in ("?", "？") else ":" if last in (":", "：") else ""


def ruled_act(sentence: str, plain: str) -> SpeechAct:
    """What a sentence does by the rules alone."""
    colon = final_mark(sentence) == ":"
    return next((act for act in ORDER if _rules()[act].holds(plain, announcing=colon)), "claim")


@cache
def _doubts() -> tuple[re.Pattern[str], ...]:
    """What a sentence holds that is never an aside: a figure, an address, a contrast, a reason."""
    return _rules()["refusal"].veto


@cache
def _rules() -> dict[str, _Rule]:
    data = json.loads(files(__package__).joinpath("speech_acts.json").read_text(encoding="utf-8"))
    return {act: _rule(data[act], data["lists"]) for act in (*ORDER, REFERRAL, COURTESY)}


def _rule(data: dict[str, Any], lists: dict[str, str]) -> _Rule:
    def compiled(key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(filled(pattern, lists)) for pattern in data.get(key, ()))

    return _Rule(
        compiled("whole"),
        compiled("start"),
        compiled("find"),
        compiled("veto"),
        compiled("softened"),
        data.get("longest", 80),
        data.get("announces", False),
    )


def filled(pattern: str, lists: Mapping[str, str]) -> str:
    """An expression of a table with its {names} replaced by what they stand for."""
    for name, alternatives in lists.items():
        pattern = pattern.replace("{" + name + "}", alternatives)
    return pattern
