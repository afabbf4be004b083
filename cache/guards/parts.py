"""What belongs to a thing and is another one: the key of a safe-deposit box, 貸金庫の鍵, 保险箱的钥匙."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from cache.guards import Compared
from cache.reading.tables import read_table
from cache.reading.wording import WORDED, left_over
from cache.reading.words import REMEMBERED, Text, read_text
from languages.remembering import remembered
from languages.scripts import HAN

__all__ = ["load_parts", "other_part"]

_LEFT_OVER: Final = 0.1  # weight of what no word of a phrasing means, up to which it says the part, too
_THINGS: Final = frozenset({"noun", "name"})
_HAN: Final = re.compile(f"[{HAN}]")
_ARTICLE: Final = "(?:(?:an?|the|my|your|our|one) )?"
_WORD_JA: Final = r"[^\W\dのはがをにでもとへ]"
_OF: Final = f"(?:of|in|at|on) {_ARTICLE}"
_ASKS: Final = r"\b(?:(?:HEADS) (?:of|for)|how much (?:is|are|does|do|for))"
# Chinese things stand side by side: words tell them apart, patterns would not.
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"{_ASKS} {_ARTICLE}(?P<part>(?:\w+ )?\w+) {_OF}(?P<thing>[\w ]+?)(?: costs?)?$",
        rf"{_ASKS} {_ARTICLE}(?P<thing>(?:\w+ ){{0,2}}\w+) (?P<part>\w+?)(?: costs?)?$",
        r"(?P<thing>(?:\w+ ){0,2}\b(?!(?:an?|the|my|your|our|no|any)\b)\w+) (?P<part>\w+) (?:HEADS)\b",
    ),
    "ja": (
        rf"(?P<thing>{_WORD_JA}+)の(?P<part>{_WORD_JA}{{1,10}}?)"
        r"(?:の(?:HEADS)(?=[はがをもにっ]|$|いくら|教え)|はお?(?:いくら|何円))",
    ),
}


class _Part(NamedTuple):
    part: str
    thing: frozenset[str]  # its content words


def other_part(compared: Compared) -> str:
    """What belongs to the thing of the nearest phrasing and is in no phrasing; "" if there is nothing."""
    parts = load_parts()[compared.language](compared.asked)
    if not parts:
        return ""
    nearest, stored = compared.nearest, compared.stored
    said = {*nearest.content, *read_text(nearest.plain, nearest.language).content}
    strange = (one.part for one in parts if one.thing <= said and not any(_has(text, one) for text in stored))
    return next(strange, "")


def _has(text: Text, one: _Part) -> bool:
    """Whether a phrasing says the part, too, maybe in other words."""
    if one.part in text.written or not {*read_text(one.part, text.language).content}.isdisjoint(text.content):
        return True
    if text.language not in WORDED:
        return False
    rest = {*text.written} - {*"".join(one.thing)}
    shared = any(character in rest for character in _HAN.findall(one.part))  # 月租, 包月
    return shared or left_over(one.part, text.written, text.language) <= _LEFT_OVER


@cache
def load_parts() -> Mapping[str, Callable[[Text], tuple[_Part, ...]]]:
    """What reads the parts of things from a text, by language, with the shipped table."""
    table = read_table("parts.yaml", "cache.guards")
    return {language: remembered(REMEMBERED)(_reader(language, words)) for language, words in table.items()}


def _reader(language: str, words: Mapping[str, list[str]]) -> Callable[[Text], tuple[_Part, ...]]:
    """What reads of a text of which things it names which parts, one of which it asks about."""
    heads = "|".join(sorted(words["heads"], key=len, reverse=True))
    patterns = [re.compile(one.replace("HEADS", heads)) for one in _PATTERNS.get(language, ())]
    asks = re.compile(heads)
    light = (*words["light"], *words["heads"])

    def is_part(one: _Part) -> bool:
        last = one.part.split()[-1].removesuffix("s")
        names_nothing = last in light if language == "en" else one.part.endswith(light)
        return bool(one.thing and read_text(one.part, language).content) and not names_nothing

    def read(text: Text) -> tuple[_Part, ...]:
        found = _neighbours(text, asks) if language == "zh" else _matches(text, patterns)
        return tuple(filter(is_part, found))

    return read


def _matches(text: Text, patterns: list[re.Pattern[str]]) -> Iterator[_Part]:
    for pattern in patterns:
        for found in pattern.finditer(text.plain):
            yield _Part(found["part"], frozenset(read_text(found["thing"], text.language).content))


def _neighbours(text: Text, asks: re.Pattern[str]) -> Iterator[_Part]:
    """Two things in a row, or with 的 between them, before what asks about the second one."""
    words = [word for word in text.words if word.surface != "的"]
    for at, (thing, part) in enumerate(pairwise(words), start=2):
        behind = "".join(word.surface for word in words[at:])
        if {thing.kind, part.kind} <= _THINGS and asks.match(behind):
            yield _Part(part.surface, frozenset(read_text(thing.surface, "zh").content))
