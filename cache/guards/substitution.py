"""The same question but for one word: "pay my rent bill", "pay my water bill"; 加班费怎么算, 年终奖怎么算.

Who asks the same in other words changes more than one of them, or takes a synonym.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from cache.guards import Compared
from cache.guards.classes import ClassesGuard
from cache.guards.identifiers import identifiers
from cache.guards.numbers import number_words
from cache.reading.numerals import numerals
from cache.reading.tables import Found, read_table
from cache.reading.wording import WORDED, agreement
from cache.reading.words import REMEMBERED, Text, content_word
from languages.remembering import remembered
from languages.words import Word

__all__ = ["SubstitutionGuard"]

_LEAST_LETTERS = 5  # among shorter words one letter makes another word
_SLIP = 0.85  # share of letters in common from which one word may be a slip for the other
_LONGEST = 3  # words that stand in each other's place, those that say nothing included
_ALIKE = 0.5  # share of the words with a partner from which they may mean the same


class _Spoken(NamedTuple):
    key: str  # what it shares with its synonyms
    surface: str
    says: bool  # whether it says something about what is asked


_Words = tuple[_Spoken, ...]


@dataclass(frozen=True, slots=True)
class SubstitutionGuard:
    """Vetoes an entry that differs in one word, unless that word may mean the same.

    It may if both are synonyms, or name one class of a table, or, in Japanese and Chinese, share a
    character. Numbers and codes are left to the guards that can read them.
    """

    tables: tuple[ClassesGuard, ...]
    name: str = "substitution"

    def veto(self, compared: Compared, /) -> str | None:
        """The two words that stand in each other's place."""
        asked = compared.asked
        found = self._exchanged(asked, compared.nearest)
        if found is None:
            return None
        mine, theirs = found
        stored = compared.stored
        ours, entrys = {word.key for word in mine}, {word.key for word in theirs}
        if any(ours <= {*text.content} and not entrys <= {*text.content} for text in stored):
            return None
        elsewhere = {other[1] for text in stored if (other := self._exchanged(asked, text)) is not None}
        if len(elsewhere) > 1:  # the entry itself has several words in this place
            return None
        return f"the question has “{_written(mine)}” where the entry has “{_written(theirs)}”"

    def _exchanged(self, asked: Text, stored: Text) -> tuple[_Words, _Words] | None:
        """The content words that are all that two texts differ in."""
        differing = _only_difference(_spoken(asked), _spoken(stored))
        if differing is None:
            return None
        mine, theirs = _without_light_words(differing, asked.language)
        if not mine or not theirs or len(asked.content) <= len(mine):
            return None
        if not all(word.says for words in (mine, theirs) for word in words):
            return None
        found = mine, theirs
        if _has_quantities(found, asked, stored) or identifiers(asked.written) != identifiers(stored.written):
            return None
        return None if self._may_be_the_same(found, asked, stored) else found

    def _may_be_the_same(self, found: tuple[_Words, _Words], asked: Text, stored: Text) -> bool:
        mine, theirs = map(_written, found)
        if asked.language in WORDED and ({*mine} & {*theirs} - {" "} or _means_the_same(mine, theirs, asked)):
            return True
        if _abbreviates(mine, theirs) or _abbreviates(theirs, mine):
            return True
        for table in self.tables:
            named_in = table.languages[asked.language].named_in
            some, others = named_in(asked.plain), named_in(stored.plain)
            for group in some.keys() & others.keys():
                if _same_class(_of(found[0], some[group]), _of(found[1], others[group])):
                    return True
        return False


def _without_light_words(differing: tuple[_Words, _Words], language: str) -> tuple[_Words, _Words]:
    """What differs but for light words, and for words of both that stand between such, well spelt or not."""
    light = _light_words()[language]
    mine, theirs = ([word for word in words if word.surface not in light] for words in differing)
    for word in tuple(mine):
        same = (one for one in theirs if one.key == word.key or _misspelt(one.surface, word.surface))
        if (other := next(same, None)) is not None:
            mine.remove(word)
            theirs.remove(other)
    return tuple(mine), tuple(theirs)


@cache
def _light_words() -> Mapping[str, frozenset[str]]:
    return {
        language: frozenset(words) for language, words in read_table("light.yaml", "cache.guards").items()
    }


def _means_the_same(mine: str, theirs: str, asked: Text) -> bool:
    """Whether the tables of words know one as another word for the other."""
    return agreement(mine, theirs, asked.language).aligned >= _ALIKE


def _of(words: _Words, terms: Iterable[Found]) -> list[Found]:
    """The terms that the exchanged words are, or are part of."""
    surfaces = [word.surface for word in words]
    return [term for term in terms if any(one in term.word or term.word in one for one in surfaces)]


def _same_class(some: Iterable[Found], others: Iterable[Found]) -> bool:
    """Whether different words of one class stand in the two texts."""
    return any(one.word != other.word and one.meanings & other.meanings for one in some for other in others)


def _misspelt(some: str, other: str) -> bool:
    """Whether two words may be one: pasword, colors. What they mean if not is up to the tables."""
    long = min(len(some), len(other)) >= _LEAST_LETTERS
    return long and some[0] == other[0] and SequenceMatcher(None, some, other).ratio() >= _SLIP


def _abbreviates(short: str, long: str) -> bool:
    """Whether a word is made of the first letters of others: MFA."""
    parts = long.replace("-", " ").split()
    return len(parts) > 1 and short == "".join(part[0] for part in parts)


def _has_quantities(found: tuple[_Words, _Words], asked: Text, stored: Text) -> bool:
    """Whether a number is exchanged, or the unit of one: 2 hours, 2 days. The 日 of 配送日 is a word."""
    exchanged = {word.surface for words in found for word in words}
    if _has_numbers(exchanged):
        return True
    numbered = _has_numbers({word.surface for text in (asked, stored) for word in text.words})
    return numbered and not exchanged.isdisjoint(number_words())


def _has_numbers(words: Set[str]) -> bool:
    return not words.isdisjoint(numerals().words) or any(
        character.isnumeric() for word in words for character in word
    )


@remembered(REMEMBERED)
def _spoken(text: Text) -> _Words:
    words = (word for word in text.words if word.kind != "mark")
    return tuple(_spoken_word(word, content_word(word, text.language)) for word in words)


def _spoken_word(word: Word, content: str) -> _Spoken:
    surface = word.surface.casefold()
    return _Spoken(content or surface, surface, bool(content))


def _only_difference(some: _Words, others: _Words) -> tuple[_Words, _Words] | None:
    """What stands in each other's place, where all before and behind it is the same."""
    shorter = min(len(some), len(others))
    start = end = 0
    while start < shorter and some[start].key == others[start].key:
        start += 1
    while end < shorter - start and some[-1 - end].key == others[-1 - end].key:
        end += 1
    mine, theirs = some[start : len(some) - end], others[start : len(others) - end]
    return (mine, theirs) if 0 < len(mine) <= _LONGEST and 0 < len(theirs) <= _LONGEST else None


def _written(words: _Words) -> str:
    return " ".join(word.surface for word in words)
