"""Names of products, places and people: an entry about one does not answer a question about another.

A text without names agrees with every name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Self

from cache.guards import Compared, about_any
from cache.reading.tables import read_table
from cache.reading.wording import WORDED, left_over
from cache.reading.words import REMEMBERED, Text, content_word, overlap
from languages.names import IN_KATAKANA, named
from languages.remembering import remembered
from languages.words import Word

__all__ = ["NamesGuard"]

_ABOUT_THE_SAME = 0.6  # share of other content in common from which names are compared
_SLIP = 0.75  # share of characters in common from which two spellings may be one name
_LEFT_OVER = 0.1  # weight of what no word of the other text means, up to which スマホ is スマートフォン
_SHORT = 4  # characters; among short names one letter makes another name
_BEGINNINGS = ("noun", "name")
_INSIDE = ("in", "at")
_LEADING = "去到在从往"  # 去市|医院: read as one word with what they lead to


class NamesGuard:
    """Vetoes an entry that names something else than the question does."""

    name = "names"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped ends of compounds."""
        _heads()
        return cls()

    def veto(self, compared: Compared, /) -> str | None:
        """The names of both, if each has one that the other has not."""
        asked, nearest = compared.asked, compared.nearest
        here, there = _names(asked), _names(nearest)
        mine, theirs = _strange(here, nearest), _strange(there, asked)
        if not mine or not theirs or overlap(asked, nearest, here | there) < _ABOUT_THE_SAME:
            return _other_head(compared)
        stored = compared.stored
        if about_any(_names(text) for text in stored):
            return None
        if any(not _strange(mine, text) for text in stored):
            return None
        return f"the question names {', '.join(sorted(mine))}, the entry {', '.join(sorted(theirs))}"


def _other_head(compared: Compared) -> str | None:
    """What begins differently and ends the same in all phrasings: 工学部, 文学部."""
    here, there = _headed(compared.asked), _headed(compared.nearest)
    for head in here.keys() & there.keys():
        mine, theirs = here[head], there[head]
        if any(_same_beginning(one, other, head) for one in mine for other in theirs):
            continue
        said = (word for text in (compared.asked, compared.nearest) for word in text.content)
        ours = frozenset(word for word in said if any(word in one for one in mine | theirs))
        rest = overlap(compared.asked, compared.nearest, ours)
        elsewhere = [_headed(text).get(head, theirs) for text in compared.stored]  # without it says nothing
        if rest >= _ABOUT_THE_SAME and all(mine.isdisjoint(others) for others in elsewhere):
            return f"the question names {', '.join(sorted(mine))}, the entry {', '.join(sorted(theirs))}"
    return None


def _same_beginning(some: str, other: str, head: str) -> bool:
    """Whether two compounds may be one: 保険証 is 健康保険証, but 畅享套餐 is not 尊享套餐."""
    if head.isascii():
        return some.startswith(other) or other.startswith(some) or _same_name(some, other)
    shared = {*some} & {*other} - {*head}
    return bool(shared) and (some[0] == other[0] or len(some) != len(other))


@remembered(REMEMBERED)
def _headed(text: Text) -> Mapping[str, frozenset[str]]:
    """The compounds of a text by how they end; in English what stands before it, or behind "in"."""
    found: dict[str, frozenset[str]] = {}
    parts = _english(text) if text.language == "en" else _compounds(text)
    for head, begins in parts:
        found[head] = found.get(head, frozenset()) | {begins}
    return found


def _compounds(text: Text) -> Iterator[tuple[str, str]]:
    for before, word in pairwise((Word("", "", "mark"), *text.words)):
        for head in _heads().get(text.language, ()):
            begins = before.surface if word.surface == head and before.kind in _BEGINNINGS else ""
            compound = (begins + word.surface).lstrip(_LEADING)
            if compound.endswith(head) and compound != head:
                yield head, compound


def _english(text: Text) -> Iterator[tuple[str, str]]:
    words = [word for word in text.words if word.kind != "mark"]
    names = _names(text)
    for at, word in enumerate(words):
        head = word.surface.casefold()
        if head not in _heads()["en"]:
            continue
        before = content_word(words[at - 1], "en") if at else ""
        inside = words[at + 1 : at + 2] and words[at + 1].surface in _INSIDE
        place = content_word(words[at + 2], "en") if inside and at + 2 < len(words) else ""
        yield from ((head, begins) for begins in (before, place if place in names else "") if begins)


@cache
def _heads() -> Mapping[str, tuple[str, ...]]:
    return {language: tuple(heads) for language, heads in read_table("heads.yaml", "cache.guards").items()}


def _strange(names: frozenset[str], text: Text) -> frozenset[str]:
    """The names that a text does not have, in whatever spelling."""
    return frozenset(
        name
        for name in names
        if name not in text.written
        and not any(_same_name(name, word) for word in (*text.content, *IN_KATAKANA.findall(text.written)))
        and not (text.language in WORDED and left_over(name, text.written, text.language) <= _LEFT_OVER)
    )


def _same_name(some: str, other: str) -> bool:
    """Whether two spellings may be one name: a slip of the pen, or スケボー for スケートボード."""
    if some == other:
        return True
    if IN_KATAKANA.fullmatch(some) and IN_KATAKANA.fullmatch(other):
        short, long = sorted((some, other), key=len)
        rest = iter(long)
        return all(kana in rest for kana in short) or SequenceMatcher(None, some, other).ratio() >= _SLIP
    return min(len(some), len(other)) > _SHORT and SequenceMatcher(None, some, other).ratio() >= _SLIP


@remembered(REMEMBERED)
def _names(text: Text) -> frozenset[str]:
    found = (content_word(text.words[at], text.language) for at in named(text.words, text.language))
    return frozenset(filter(None, found))
