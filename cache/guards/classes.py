"""Guards made of classes of words: who names a class of a group is not answered by one who names another.

Each table holds, for a language, groups of classes; words of a class mean the same to an answer, words
of two classes do not: {enable: [enable, turn on], disable: [disable, turn off]}. A word may stand in
several classes and then agrees with each. `unsaid` lists the classes that silence agrees with; without
it, silence agrees with all. A group of `passed` lists longer words that only contain one of the others
("first name" holds "first").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, Self

from cache.guards import Compared, about_any, quoted
from cache.guards.polarity import is_negated
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, Text, content_word, overlap, read_text
from languages.remembering import remembered

__all__ = ["ClassesGuard"]

_ENDING = re.compile(r"(?![はがともの])[ぁ-ん]*[。?!]*")  # of a verb: 変更したい, 子供がいます is none
_HOW_TO = re.compile(r"(?:怎么|如何|怎样)$")
_OBJECT_JA = re.compile(r"(?:(?:し|され)(?:た|ている)\w{1,6})?[をの]")  # 送金を, 発送された商品の受け取り
_ASKS_FOR = re.compile("申请|申請|申し?込|依頼")  # 返品の申請, 申请退款: what it asks for is wanted
_AGREED = 2  # phrasings that name the same class say it for one that names none

Named = Mapping[int, tuple[Found, ...]]  # by the number of the group; its classes in `meanings`


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups of one language."""

    named_in: Callable[[str], Named]
    unsaid: Mapping[int, frozenset[str]]

    @classmethod
    def of(cls, groups: Iterable[Mapping[str, Any]]) -> Self:
        meanings: dict[tuple[int, str], list[str]] = {}
        passed: list[str] = []
        unsaid: dict[int, frozenset[str]] = {}
        for number, group in enumerate(groups):
            for name, words in group.items():
                if name == "passed":
                    passed += words
                elif name == "unsaid":
                    unsaid[number] = frozenset(words)
                else:
                    meanings[number, name] = words
        terms = Terms.of(meanings, passed=passed, inflected=True)
        return cls(remembered(REMEMBERED)(lambda plain: _by_group(terms.find(plain))), unsaid)


def _by_group(found: Iterable[Found]) -> Named:
    named: dict[int, tuple[Found, ...]] = {}
    for one in found:
        classes: dict[int, set[str]] = {}
        for group, name in one.meanings:
            classes.setdefault(group, set()).add(name)
        for group, names in classes.items():
            named[group] = (*named.get(group, ()), one._replace(meanings=frozenset(names)))
    return named


@dataclass(frozen=True, slots=True)
class ClassesGuard:
    """Vetoes an entry that names another class of a group than the question does."""

    name: str
    languages: Mapping[str, _Groups]
    least_overlap: float  # share of other content that texts must have in common to be compared at all
    alone_overlap: float  # the same where only one of them names a class
    so_short: int  # texts with fewer other content words are compared whatever these are: store, keep
    turned_by_negation: bool  # "not accepted" is "declined": where one text is negated, say nothing
    spoken_for: Collection[str]  # languages: other phrasings speak for a nearest one that names nothing
    acts: bool  # of several acts in a question one is wanted: 予約の時間を変更したい
    read: Callable[[Text], str]  # of a text what may name a class

    @classmethod
    def load(
        cls,
        name: str,
        *,
        least_overlap: float = 0.0,
        alone_overlap: float = 0.8,
        so_short: int = 0,
        turned_by_negation: bool = False,
        spoken_for: Collection[str] = (),
        acts: bool = False,
        read: Callable[[Text], str] = attrgetter("plain"),
    ) -> Self:
        """The guard with the shipped table of this name."""
        table = read_table(f"{name}.yaml", "cache.guards")
        groups = {
            language: _Groups.of([*own, *(table["en"] if language != "en" else ())])
            for language, own in table.items()
        }
        return cls(
            name, groups, least_overlap, alone_overlap, so_short, turned_by_negation, spoken_for, acts, read
        )

    def veto(self, compared: Compared, /) -> str | None:
        """The words of the two classes."""
        groups = self.languages[compared.language]
        asked, nearest = (self._named(text, groups) for text in (compared.asked, compared.nearest))
        for group in asked.keys() | nearest.keys():
            here = asked.get(group, ())
            there = nearest.get(group, ()) or (self._agreed(compared, groups, group) if here else ())
            if self.acts:
                here = _wanted(here, compared.asked)
            unsaid = groups.unsaid.get(group, frozenset())
            mine, theirs = _classes(here) or unsaid, _classes(there) or unsaid
            if not mine or not theirs or not mine.isdisjoint(theirs):
                continue
            if not self._comparable(compared, here, there):
                continue
            others = [_classes(self._named(text, groups).get(group, ())) for text in compared.stored]
            if about_any(others):
                continue
            if _all_other(mine, theirs, others):
                return f"the question says {_told(here)}, the entry {_told(there)}"
        return None

    def _named(self, text: Text, groups: _Groups) -> Named:
        """What a text names, by group."""
        named = groups.named_in(self.read(text))
        return (
            {group: _without_objects(found, text) for group, found in named.items()} if self.acts else named
        )

    def _agreed(self, compared: Compared, groups: _Groups, group: int) -> tuple[Found, ...]:
        """What the other phrasings name for one that names nothing, where they name the same."""
        if compared.language not in self.spoken_for:
            return ()
        named = [found for text in compared.stored if (found := self._named(text, groups).get(group))]
        same = len(named) >= _AGREED and len({_classes(found) for found in named}) == 1
        return named[0] if same else ()

    def _comparable(self, compared: Compared, here: tuple[Found, ...], there: tuple[Found, ...]) -> bool:
        """Whether the two texts are about the same otherwise."""
        asked, nearest = compared.asked, compared.nearest
        if self.turned_by_negation and is_negated(asked) != is_negated(nearest):
            return False
        told = _content([*here, *there], asked)
        if here and there and all(len({*text.content} - told) < self.so_short for text in (asked, nearest)):
            return True
        return overlap(asked, nearest, told) >= (self.least_overlap if here and there else self.alone_overlap)


def _without_objects(found: tuple[Found, ...], text: Text) -> tuple[Found, ...]:
    """The terms but those that another act is done to: "to receive a transfer", 送金を受け取る, 收到汇款."""
    objects = {_object(one, other, text) for one, other in pairwise(found)}
    return tuple(one for one in found if one not in objects)


def _object(one: Found, other: Found, text: Text) -> Found | None:
    """Which of two neighbours the other act is done to; in English what stands within it."""
    if any(_ASKS_FOR.match(term.word) for term in (one, other)):
        return None
    between = text.plain[one.end : other.start]
    if text.language == "ja":
        return one if _OBJECT_JA.fullmatch(between) else None
    if text.language == "zh":
        words = read_text(between, "zh").words
        return other if all(content_word(word, "zh") and word.kind != "verb" for word in words) else None
    return other if other.start < one.end else None


def _wanted(found: tuple[Found, ...], text: Text) -> tuple[Found, ...]:
    """The term alone that a Japanese text ends with, or that a Chinese one asks how to do."""
    if text.language == "ja" and found and _ENDING.fullmatch(text.plain, found[-1].end):
        return found[-1:]
    if text.language == "zh":
        return tuple(one for one in found if _HOW_TO.search(text.plain[: one.start])) or found
    return found


def _all_other(mine: frozenset[str], theirs: frozenset[str], others: Iterable[frozenset[str]]) -> bool:
    """Whether no phrasing names what the question names; one that names both, or neither, says nothing."""
    alone = [other for other in others if other and not (other & mine and other & theirs)]
    return all(mine.isdisjoint(other) for other in alone)


def _classes(found: tuple[Found, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(one.meanings for one in found))


def _content(found: Iterable[Found], text: Text) -> frozenset[str]:
    """The content words of the terms themselves."""
    return frozenset(base for one in found for base in read_text(one.word, text.language).content)


def _told(found: tuple[Found, ...]) -> str:
    return quoted(one.word for one in found) or "nothing of it"
