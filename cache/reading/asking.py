"""What a question asks, without what only leads up to it: greetings, thanks, who writes, and why.

    お世話になっております。先日引っ越したばかりですが、住民票はどこで取れますか → 住民票はどこで取れますか

The evidence is taken from this reading where it says all that the entry says ("how much is it?" may not drop
the card that stood before it). Guards read the whole text as well: a preface may hold the number, the
negation or the other product.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final, Self

from cache.reading.spelling import spelt
from cache.reading.tables import read_table
from cache.reading.text import normalise
from cache.reading.wording import WORDED, left_over
from cache.reading.words import read_text
from languages.remembering import remembered

__all__ = ["asked_only", "guarded_readings", "readings", "says_all"]

_REMEMBERED = 8_192  # texts; guards and gate ask again for those on their way
_CONTENT: Final = 2  # words that say what is asked; a clause with fewer leans on those before it
_LEFT_OVER: Final = 0.1  # weight of a word, from which leaving it out asks something else
_PREFACE: Final = 6  # English words
_EDGE: Final = " \t\n,，、.。．!！?？~～;；:：…"
_OPENINGS: Final = 6  # "Hi, thanks, ok, so, well, …" only leads up to a question for so long
_CLAUSES: Final = 12  # at most so many say together what is asked; reading them takes their square


def readings(text: str, language: str) -> tuple[str, ...]:
    """How a question is read: only what it asks, then as a whole; often both are one.

    Japanese and Chinese lose their courtesies in both, whose words count there. In English a short lead-in
    stays ("can you tell me"): the models read past it, and to take it off cost CLINC150 a point.
    """
    core, bare = _parted(text, language)
    if language in WORDED:
        found = dict.fromkeys((core, bare))
        return tuple(text if normalise(one) == normalise(text) else one for one in found)
    return (core, text) if len(text.split()) - len(core.split()) >= _PREFACE else (text,)


def guarded_readings(text: str, language: str) -> tuple[str, ...]:
    """What guards read: every reading of a question, and what it asks without even a short lead-in.

    One word in another's place shows only where nothing else differs.
    """
    return tuple(dict.fromkeys((text, *readings(text, language), asked_only(text, language))))


def asked_only(text: str, language: str) -> str:
    """What a text asks, without any lead-in."""
    return _parted(text, language)[0]


def says_all(question: str, phrasing: str, language: str) -> bool:
    """Whether a question says, in its own words, every word of a phrasing that says what is asked."""
    if language in WORDED:
        return left_over(phrasing, question, language) <= _LEFT_OVER
    return {*read_text(phrasing, language).content} <= {*read_text(question, language).content}


@remembered(_REMEMBERED)
def _parted(text: str, language: str) -> tuple[str, str]:
    """What a text asks, and all of it without courtesies."""
    phrases = _phrases().get(language)
    clauses = phrases.clauses(spelt(text, language)) if phrases else []
    if phrases is None or not clauses:
        return text, text
    return phrases.joined(phrases.core(clauses)), phrases.joined(clauses)


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The expressions of one language."""

    language: str
    opening: re.Pattern[str]  # at the beginning of a clause
    closing: re.Pattern[str]  # at its end
    alone: re.Pattern[str]  # a whole clause
    asks: re.Pattern[str]
    ends: re.Pattern[str]  # where a clause ends that leads up to the next one
    leans: re.Pattern[str]  # what needs the clauses before it
    conditions: re.Pattern[str]  # clauses that the next one is asked under

    @classmethod
    def of(cls, language: str, table: Mapping[str, Sequence[str]]) -> Self:
        names = ("openings", "closings", "alone", "asks", "ends", "leans", "conditions")
        return cls(language, *(_any(table[name]) for name in names))

    def clauses(self, text: str) -> list[str]:
        """The clauses that say something, without courtesies."""
        bounds = [0, *(end.end() for end in self.ends.finditer(text)), len(text)]
        parts = (self._bare(text[start:end]) for start, end in pairwise(bounds))
        return [part for part in parts if part]

    def core(self, clauses: Sequence[str]) -> Sequence[str]:
        """From the last clause on that asks something by itself; all, if none does, or only very many do."""
        last = next((at for at in reversed(range(len(clauses))) if self.asks.search(clauses[at])), None)
        if last is None:
            return clauses
        for first in range(last, max(-1, last - _CLAUSES), -1):
            before = clauses[first - 1] if first else ""
            if self.conditions.search(before) or self._asks_more(before, clauses[first:]):
                continue
            if self._stands_alone(clauses[first : last + 1]):
                return clauses[first:]
        return clauses

    def _asks_more(self, clause: str, rest: Sequence[str]) -> bool:
        """Whether a clause is no lead-in but a question of its own: 补卡多少钱，青云套餐多少钱."""
        if not self.asks.search(clause):
            return False
        return not {*read_text(clause, self.language).content} <= {
            *read_text(self.joined(rest), self.language).content
        }

    def joined(self, clauses: Sequence[str]) -> str:
        """The clauses as one text."""
        return (" " if self.language == "en" else "").join(clauses)

    def _stands_alone(self, clauses: Sequence[str]) -> bool:
        text = self.joined(clauses)
        return not self.leans.search(text) and len({*read_text(text, self.language).content}) >= _CONTENT

    def _bare(self, clause: str) -> str:
        """A clause without its courtesies; nothing if it has nothing else."""
        text = clause.strip()
        for _ in range(_OPENINGS):
            said = text.strip(_EDGE)
            if not said or self.alone.fullmatch(said):
                return ""
            shorter = self.closing.sub("", text)
            shorter = shorter[found.end() :] if (found := self.opening.match(shorter)) else shorter
            if shorter == text:
                break
            text = shorter.strip()
        return text


@cache
def _phrases() -> dict[str, _Phrases]:
    tables = read_table("asking.yaml", "cache.reading")
    return {language: _Phrases.of(language, table) for language, table in tables.items()}


def _any(expressions: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in expressions) or "(?!)", re.IGNORECASE)
