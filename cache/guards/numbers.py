"""Numbers with their units, dates, and identifiers: what a question must share with an entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from cache.guards import Compared
from cache.guards.tables import read_table, word_pattern

__all__ = ["NumberGuard", "Quantity"]

_OPEN_FROM = 3  # an entry that names three different values is about any value
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=[a-z._-]*\d)(?=\d*[a-z])[a-z\d]+(?:[._-][a-z\d]+)*(?![\w.])", re.ASCII
)
_DIGITS_WITH_UNIT = re.compile(r"\d+(?:\.\d+)?(?:st|nd|rd|th|[a-z]{1,2})", re.ASCII)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit; no unit agrees with every unit."""

    value: str
    unit: str = ""

    def agrees_with(self, other: Quantity) -> bool:
        """Whether both may mean the same."""
        return self.value == other.value and (not self.unit or not other.unit or self.unit == other.unit)

    def __str__(self) -> str:
        return f"{self.value} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a text states."""

    quantities: frozenset[Quantity]
    days: frozenset[str]
    identifiers: frozenset[str]  # KB5021, A-17-3
    products: frozenset[str]  # mp3, 2fa: a single digit among letters, which may also be spelt out


@dataclass(frozen=True, slots=True)
class NumberGuard:
    """Vetoes an entry whose numbers, units, dates or identifiers are not those of the question."""

    read: Callable[[str], _Reading]
    name: str = "numbers"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped units, numerals and names of days."""
        return cls(_Reader.from_table(read_table("numbers.yaml")))

    def veto(self, compared: Compared, /) -> str | None:
        """The first kind of statement in which question and entry differ."""
        asked, nearest = self.read(compared.question), self.read(compared.phrasing)
        if asked == nearest:
            return None
        stored = tuple(self.read(text) for text in compared.phrasings)
        return (
            _differing_quantities(asked, nearest, stored)
            or _differing_names("identifiers", asked.identifiers, [one.identifiers for one in stored])
            or _differing_names("product names", asked.products, [one.products for one in stored])
            or _differing_names("dates", asked.days, [one.days for one in stored])
        )


def _differing_quantities(asked: _Reading, nearest: _Reading, stored: tuple[_Reading, ...]) -> str | None:
    if len({one.quantities for one in stored if one.quantities}) >= _OPEN_FROM:
        return None
    if any(_same_quantities(asked.quantities, one.quantities) for one in stored):
        return None
    here, there = _listed(asked.quantities), _listed(nearest.quantities)
    return f"numbers differ: the question has {here}, the entry {there}"


def _same_quantities(some: frozenset[Quantity], others: frozenset[Quantity]) -> bool:
    return all(any(one.agrees_with(other) for other in others) for one in some) and all(
        any(other.agrees_with(one) for one in some) for other in others
    )


def _differing_names(kind: str, asked: frozenset[str], stored: list[frozenset[str]]) -> str | None:
    """A name that no phrasing has, or one that every phrasing has and the question has not."""
    if len({one for one in stored if one}) >= _OPEN_FROM:
        return None
    known = frozenset[str]().union(*stored)
    unknown = asked - known
    if unknown and (known or kind != "product names"):
        return f"{kind} differ: the question has {_listed(unknown)}, the entry {_listed(known)}"
    needed = frozenset.intersection(*stored) - asked if stored else frozenset[str]()
    if needed and (asked or kind != "product names"):
        return f"{kind} differ: the entry is about {_listed(needed)}, the question has {_listed(asked)}"
    return None


def _listed(values: frozenset[Any]) -> str:
    return ", ".join(sorted(map(str, values))) or "none"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds numbers, days and identifiers in a normalised text."""

    words: Mapping[str, int]
    word: re.Pattern[str]
    kanji: re.Pattern[str]
    digits: Mapping[str, int]
    tens: Mapping[str, int]
    quantity: re.Pattern[str]
    units: Mapping[str, str]
    day: re.Pattern[str]
    days: Mapping[str, str]

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        units = {spelling: unit for unit, spellings in table["units"].items() for spelling in spellings}
        days = {spelling: day for day, spellings in table["days"].items() for spelling in spellings}
        before = "|".join(re.escape(unit) for unit in units if unit in "$€£¥")
        after = "|".join(_unit_pattern(unit) for unit in sorted(units, key=len, reverse=True))
        numerals = "".join([*table["kanji"], *table["kanji_tens"]])
        return cls(
            words=table["words"],
            word=word_pattern(table["words"], inflected=False),
            kanji=re.compile(
                f"(?<![{numerals}\\u4e00-\\u9fff])[{numerals}]+(?=[{table['counters']}ヶカケか箇%])"
            ),
            digits=table["kanji"],
            tens=table["kanji_tens"],
            quantity=re.compile(
                rf"(?P<before>{before})?\s?(?P<value>-?\d+(?:[./:^]\d+)*)\s?(?P<after>{after})?"
            ),
            units=units,
            day=word_pattern(days, inflected=False),
            days=days,
        )

    def __call__(self, text: str) -> _Reading:
        days = frozenset(self.days[found] for found in self.day.findall(text))
        text = self.day.sub(" ", text)
        names = {found for found in _IDENTIFIER.findall(text) if not _DIGITS_WITH_UNIT.fullmatch(found)}
        identifiers = frozenset(name for name in names if sum(map(str.isdigit, name)) > 1)
        text = self.kanji.sub(self._kanji_value, _IDENTIFIER.sub(_digits_only, text))
        text = self.word.sub(lambda found: str(self.words[found.group()]), text)
        quantities = frozenset(map(self._quantity, self.quantity.finditer(text)))
        return _Reading(quantities, days, identifiers, frozenset(names - identifiers))

    def _quantity(self, found: re.Match[str]) -> Quantity:
        spelling = found["before"] or found["after"] or ""
        value = found["value"]
        return Quantity(value.lstrip("0") or "0" if value.isdigit() else value, self.units.get(spelling, ""))

    def _kanji_value(self, found: re.Match[str]) -> str:
        """A kanji numeral in digits: 二十三 is 23, 二〇二六 is 2026."""
        numeral = found.group()
        if not any(character in self.tens for character in numeral):
            return "".join(str(self.digits[character]) for character in numeral)
        total = group = digit = 0
        for character in numeral:
            ten = self.tens.get(character, 0)
            if not ten:
                digit = self.digits[character]
            elif ten < 10_000:
                group, digit = group + max(digit, 1) * ten, 0
            else:
                total, group, digit = total + max(group + digit, 1) * ten, 0, 0
        return str(total + group + digit)


def _unit_pattern(unit: str) -> str:
    return rf"{re.escape(unit)}(?![a-z])" if unit.isascii() and unit.isalpha() else re.escape(unit)


def _digits_only(found: re.Match[str]) -> str:
    """An identifier is compared as a whole; "5km" and "2nd" are numbers with a unit."""
    text = found.group()
    return _ORDINAL.sub("", text) if _DIGITS_WITH_UNIT.fullmatch(text) else " "
