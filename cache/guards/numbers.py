"""Numbers with their units: what a question must share with an entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Self

from cache.guards import Compared, about_any
from cache.guards.counted import counted_otherwise
from cache.guards.identifiers import without_identifiers
from cache.reading.numerals import Numerals, numerals
from cache.reading.tables import read_table
from cache.reading.words import REMEMBERED, Text, overlap
from languages.remembering import remembered

__all__ = ["NumberGuard", "Quantity", "number_words"]

_ABOUT_THE_SAME = 0.2  # share of other content in common from which numbers are compared at all
_SAME_BUT_FOR_IT = 0.75  # from which one side's silence tells them apart
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.ASCII)
_A_UNIT_OF = re.compile(r"\ban? (?=[a-z])")
# 1 time; but "once I have paid", "once a month", 一度に and もう一度 are none.
_ONCE = re.compile(
    r"(?<!than )(?<!least )(?<!at )\bonce(?! (?:i|i'm|i've|we|we've|you|he|she|it|it's|they|my|our|your|his"
    r"|her|its|their|the|an?|this|that|these|those|all|both|again|more|upon|per|every|each)\b)"
    r"|\bone time(?=$| (?:only|and|or|in|is|are|does|do|will|what|how|can)\b)"
    r"|(?<!もう)(?<!今)(?<!いま)一度(?![にもきず])"
)
_NUMBER = r"(?<![\d.])-?\d+(?:[./:^]\d+)*|\d+(?:[./:^]\d+)*"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it may be read: 1日 is a day, 1440 minutes, or the first of a month."""

    written: str
    readings: frozenset[tuple[str, str]]  # value and unit; no unit agrees with every unit
    weak: bool = False  # a number that one may leave out

    def agrees_with(self, other: Quantity) -> bool:
        """Whether both may mean the same."""
        return any(
            value == theirs and (not unit or not their_unit or unit == their_unit)
            for value, unit in self.readings
            for theirs, their_unit in other.readings
        )

    def is_of(self, other: Quantity) -> bool:
        """Whether both are so much of one thing: a day and two weeks."""
        return any(unit and unit == theirs for _, unit in self.readings for _, theirs in other.readings)

    def __str__(self) -> str:
        return self.written


Quantities = frozenset[Quantity]


@dataclass(frozen=True, slots=True)
class NumberGuard:
    """Vetoes an entry whose numbers or units are not those of the question.

    A number that only one side states counts where the two are the same but for it. Two numbers that
    changed places are not those of the question either.
    """

    read: Callable[[Text], Quantities]
    name: str = "numbers"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped units and numerals."""
        read = remembered(REMEMBERED)(_reader())
        return cls(lambda text: read(without_identifiers(text)))

    def veto(self, compared: Compared, /) -> str | None:
        """The numbers of both, if they differ."""
        asked, nearest = compared.asked, compared.nearest
        here, there = self.read(asked), self.read(nearest)
        differ = here != there and _differ(here, there, _alike(asked, nearest))
        exchanged = "" if differ else counted_otherwise(asked, nearest)
        if not differ and not exchanged:
            return None
        stored = [(self.read(text), text) for text in compared.stored]
        if about_any(numbers for numbers, _ in stored):
            return None
        if any(_agree(here, one) and not counted_otherwise(asked, text) for one, text in stored):
            return None
        if exchanged:
            return f"question and entry differ in how many of {exchanged}"
        return f"the question has {_listed(here)}, the entry {_listed(there)}"


@cache
def _reader() -> _Reader:
    return _Reader.from_table(read_table("numbers.yaml", "cache.guards"), numerals())


def _differ(here: Quantities, there: Quantities, alike: float) -> bool:
    mine, theirs = _missing(here, there), _missing(there, here)
    if mine and theirs:
        return alike >= _ABOUT_THE_SAME
    return bool(mine or theirs) and alike >= _SAME_BUT_FOR_IT


def _missing(some: Quantities, others: Quantities) -> bool:
    """Whether one of the numbers has no counterpart, of those that can't be left out or are exchanged."""
    alone = (one for one in some if not any(one.agrees_with(other) for other in others))
    return any(not one.weak or any(one.is_of(other) for other in others) for one in alone)


def _agree(here: Quantities, one: Quantities) -> bool:
    """Whether a phrasing is about the same numbers; one without any says nothing for a question with some."""
    return bool(one or not here) and not _missing(here, one) and not _missing(one, here)


def _alike(asked: Text, nearest: Text) -> float:
    numbers = {word.base for text in (asked, nearest) for word in text.words if word.kind == "number"}
    return overlap(asked, nearest, frozenset(numbers | number_words()))


@cache
def number_words() -> frozenset[str]:
    """The words that say a number or a unit."""
    units = _reader().units
    return frozenset({*numerals().words, *units, *(unit.rstrip("s") for unit in units)})


def _listed(values: Quantities) -> str:
    return ", ".join(sorted(map(str, values))) or "none"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds numbers with their units in a normalised text."""

    numerals: Numerals
    quantity: re.Pattern[str]
    units: Mapping[str, tuple[str, ...]]
    conversions: Mapping[str, tuple[int, str]]
    weak: frozenset[str]
    weak_units: frozenset[str]

    @classmethod
    def from_table(cls, table: Mapping[str, Any], numerals: Numerals) -> Self:
        units: dict[str, tuple[str, ...]] = {}
        for unit, spellings in table["units"].items():
            for spelling in spellings:
                units[spelling] = (*units.get(spelling, ()), unit)
        before = "|".join(re.escape(unit) for unit in units if unit in "$€£¥")
        after = "|".join(_unit_pattern(unit) for unit in sorted(units, key=len, reverse=True))
        return cls(
            numerals=numerals,
            quantity=re.compile(rf"(?P<before>{before})?\s?(?P<value>{_NUMBER})[\s-]?(?P<after>{after})?"),
            units=units,
            conversions={unit: (factor, smaller) for unit, (factor, smaller) in table["conversions"].items()},
            weak=frozenset(table["weak"]),
            weak_units=frozenset(table["weak_units"]),
        )

    def __call__(self, plain: str) -> Quantities:
        text = _A_UNIT_OF.sub(self._one, _ORDINAL.sub("", _ONCE.sub("1回", plain)))
        text = self.numerals.in_digits(text)
        if not any(map(str.isdigit, text)):
            return frozenset()
        return frozenset(map(self._quantity, self.quantity.finditer(text)))

    def _one(self, found: re.Match[str]) -> str:
        """One of a unit that is made of smaller ones: "an hour" is 1 hour, "a card" no number."""
        unit = re.match(r"[a-z]+", found.string[found.end() :])
        converted = unit and self.conversions.keys() & {*self.units.get(unit.group(), ())}
        return "1 " if converted else found.group()

    def _quantity(self, found: re.Match[str]) -> Quantity:
        value = found["value"]
        spelling = found["before"] or found["after"] or ""
        units = self.units.get(spelling, ("",))
        written = f"{value} {units[0]}".strip()
        if not re.fullmatch(r"\d+(?:\.\d+)?", value):
            return Quantity(written, frozenset((value, unit) for unit in units))
        readings = set()
        for unit in units:
            factor, smaller = self.conversions.get(unit, (1, unit))
            readings.add((str(Fraction(value) * factor), smaller))
        weak = str(Fraction(value)) in self.weak or not self.weak_units.isdisjoint(units)
        return Quantity(written, frozenset(readings), weak)


def _unit_pattern(unit: str) -> str:
    return rf"{re.escape(unit)}(?![a-z])" if unit.isascii() and unit[-1].isalpha() else re.escape(unit)
