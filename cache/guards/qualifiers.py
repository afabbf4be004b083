"""Which kind of a thing: a business account is not any account; a certificate or a key is not its thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple, Self

from cache.guards import Compared, about_any
from cache.guards.parts import load_parts, other_part
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, Text, content_word, overlap, read_text
from languages.remembering import remembered
from languages.scripts import HAN, KATAKANA

__all__ = ["QualifiersGuard"]

_SAME_BUT_FOR_IT = 0.6  # share of other content in common from which a kind tells questions apart
_SAME_BUT_FOR_WHOM = 0.5  # the same for a state of who or what lives: a pregnant cat, pets
_DOERS = frozenset({"i", "we", "you", "to"})  # before an English verb: "to freeze" is no thing
_BETWEEN = 1  # further words between a qualifier and its thing: a business bank account


class _Qualified(NamedTuple):
    kind: int
    word: str
    things: frozenset[str]  # content words that it may qualify
    rest: str  # the text without it
    is_state: bool


class _Made(NamedTuple):
    word: str  # 軽自動 of 軽自動車, 登録証明 of 登録証明書
    thing: str  # 自動, 登録
    sign: str  # what shows that a text means the made word, too


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a text says of kinds."""

    kinds: frozenset[int]  # rows of the table that it names, wherever
    qualified: tuple[_Qualified, ...]
    made: frozenset[_Made]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language."""

    language: str
    kinds: Terms
    states: int  # number of the first row that is a state
    linked: re.Pattern[str]
    bound: re.Pattern[str]
    proofs: re.Pattern[str]
    signs: Mapping[str, str]  # of a proof

    @classmethod
    def of(cls, language: str, table: Mapping[str, Any]) -> Self:
        return cls(
            language,
            Terms.of(
                dict(enumerate([*table["kinds"], *table["states"]])), passed=table["passed"], inflected=False
            ),
            len(table["kinds"]),
            re.compile(f"(?:{_any(table['linked'])})?"),
            re.compile(f"({_any(table['bound'])})([{HAN}{KATAKANA}]{{2}})"),
            re.compile(f"((?:[a-z]{{3,}}(?= )|[{HAN}]{{2}})) ?({_any(table['proofs'])})"),
            table["proofs"],
        )

    def read(self, text: Text) -> _Reading:
        """What a text says of kinds."""
        found = self.kinds.find(text.plain)
        qualified = (self._qualified(kind, one, text.plain) for one in found for kind in one.meanings)
        return _Reading(
            frozenset(kind for one in found for kind in one.meanings),
            tuple(qualified),
            frozenset(
                [_Made(sign + thing, thing, sign) for sign, thing in self.bound.findall(text.written)]
                + [
                    _Made(thing + proof, thing, self.signs[proof])
                    for thing, proof in self.proofs.findall(text.written)
                ]
            ),
        )

    def _qualified(self, kind: int, found: Found, plain: str) -> _Qualified:
        """What a word may qualify: the words behind it up to one that says nothing."""
        linked = self.linked.match(plain, found.end)
        behind = plain[linked.end() if linked else found.end :]
        words = read_text(behind, self.language).words[: 1 + _BETWEEN]
        things = takewhile(bool, (content_word(word, self.language) for word in words))
        rest = plain[: found.start] + behind.lstrip()
        return _Qualified(kind, found.word, frozenset(things), rest, kind >= self.states)


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)"


@dataclass(frozen=True, slots=True)
class QualifiersGuard:
    """Vetoes an entry about a thing where the question is about a kind of it that no phrasing names.

    A question that names no kind agrees with every entry, but for prefixes and certificates, which make
    another word of the thing. Nor does the entry about a thing tell of its parts, or the other way round.
    """

    read: Mapping[str, Callable[[Text], _Reading]]
    name: str = "qualifiers"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped tables."""
        load_parts()
        table = read_table("qualifiers.yaml", "cache.guards")
        return cls(
            {
                language: remembered(REMEMBERED)(_Words.of(language, own).read)
                for language, own in table.items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """The kind, and who names it."""
        if part := other_part(compared):
            return part
        read, asked, nearest = self.read[compared.language], compared.asked, compared.nearest
        here, there = read(asked), read(nearest)
        if here == there:
            return None
        stored = compared.stored
        told = [read(text) for text in stored]
        if kind := _further_kind(here, compared, told):
            return f"the question asks of one kind, “{kind}”, the entry does not"
        if overlap(asked, nearest) < _SAME_BUT_FOR_IT:
            return None
        if (made := _further_made(here, nearest)) and not any(made in one.made for one in told):
            return f"the question has “{made.word}”, the entry “{made.thing}”"
        if (made := _further_made(there, asked)) and not any(_bare(made, text) for text in stored):
            return f"the entry has “{made.word}”, the question “{made.thing}”"
        return None


def _further_kind(here: _Reading, compared: Compared, told: Sequence[_Reading]) -> str:
    """The kind of a thing of both, if no phrasing names it; "" if there is none."""
    if about_any(one.kinds for one in told):
        return ""
    named = frozenset[int]().union(*(one.kinds for one in told))
    said = frozenset[str]().union(*(text.content for text in compared.stored))
    things, language = _things(compared.nearest), compared.language
    for one in here.qualified:
        if one.kind in named or said & {*read_text(one.word, language).content}:  # 壊れた商品, 商品が壊れて
            continue
        alike = overlap(read_text(one.rest, language), compared.nearest)
        if one.things & things and alike >= _SAME_BUT_FOR_IT:
            return one.word
        if one.things and one.is_state and alike >= _SAME_BUT_FOR_WHOM:
            return one.word
    return ""


def _things(text: Text) -> frozenset[str]:
    """The content words that are no verb as far as one can tell."""
    before = ("", *(word.surface.casefold() for word in text.words))
    told = (content_word(word, text.language) for word in text.words)
    return frozenset(
        word for word, earlier in zip(told, before, strict=False) if word and earlier not in _DOERS
    )


def _further_made(reading: _Reading, other: Text) -> _Made | None:
    """What one text makes of a thing that the other has as it is."""
    return next((one for one in sorted(reading.made) if _bare(one, other)), None)


def _bare(made: _Made, text: Text) -> bool:
    return made.thing in text.written and made.sign not in text.written
