"""How many of what: two numbers on one card are not one number on two cards, though both say one and two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from cache.guards import quoted
from cache.reading.numerals import numerals
from cache.reading.words import REMEMBERED, Text, content_word, read_text
from languages.remembering import remembered
from languages.scripts import HAN, KATAKANA

__all__ = ["counted_otherwise"]

_LEAST = 2  # things counted in a text; of one alone nothing can change places
_WORDS = 2  # behind an English number that may say what is counted: two SIM cards
_IN_ENGLISH = re.compile(r"\b(\d+) (?=[a-z])")
# A counter, and what is counted: カードを2枚, 2枚のカード; 2张卡. Those that count anything are left out.
_THING = rf"[{HAN}]{{1,2}}|[{KATAKANA}]+|[a-z]+"
_COUNTED = {
    "ja": re.compile(rf"(?:({_THING})[をがはも]?)?(\d+)(?:[個つ]|([{HAN}]))?(?:の({_THING}))?"),
    "zh": re.compile(rf"()(\d+)个?([{HAN}])?([{HAN}]|[a-z]+)?"),
}


class _Count(NamedTuple):
    number: str
    things: frozenset[str]  # the words that may say what is counted


def counted_otherwise(asked: Text, stored: Text) -> str:
    """What both texts count, but not as many of it; "" if there is nothing."""
    mine, theirs = _counts(asked), _counts(stored)
    if min(len(mine), len(theirs)) < _LEAST:
        return ""
    for one in mine:
        others = [other for other in theirs if one.things & other.things]
        if others and all(other.number != one.number for other in others):
            return quoted(sorted(one.things & others[0].things))
    return ""


@remembered(REMEMBERED)
def _counts(text: Text) -> tuple[_Count, ...]:
    plain = numerals().in_digits(text.plain)
    found = _english(plain) if text.language == "en" else _east_asian(plain, text.language)
    return tuple(one for one in found if one.things)


def _english(plain: str) -> Iterator[_Count]:
    for found in _IN_ENGLISH.finditer(plain):
        words = read_text(plain[found.end() :], "en").words[:_WORDS]
        told = takewhile(bool, (content_word(word, "en") for word in words if not word.surface.isdigit()))
        yield _Count(found[1], frozenset(told))


def _east_asian(plain: str, language: str) -> Iterator[_Count]:
    for before, number, counter, thing in _COUNTED[language].findall(plain):
        yield _Count(number, frozenset({counter, thing or before} - {""}))
