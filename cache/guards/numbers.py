"""Numbers with their units: what a question must share with an entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Self

from cache.guards import Compared, about_any
from cache.guards.identifiers import without_identifiers
from cache.guards.tables import Found, Terms, read_table
from cache.guards.texts import REMEMBERED, Text, overlap

__all__ = ["NumberGuard", "Quantity", "in_digits", "numerals"]

_ABOUT_THE_SAME = 0.2  # share of other content in common from which numbers are compared at all
_SAME_BUT_FOR_IT = 0.75  # from which one side's silence tells them apart
_HUNDRED = 100
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.ASCII)
_A_UNIT_OF = re.compile(r"\ban? (?=[a-z])")
_AFTERNOON = re.compile(r"(?:午後|下午|晚上)の?(\d{1,2})(?=[時时点點])")
_NOON = 12
_TWO = re.compile(r"[两兩](?=[个個张張天年次件条條位人块塊元名台本周週小])")
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

    A number that only one side states counts where the two are the same but for it.
    """

    read: Callable[[Text], Quantities]
    name: str = "numbers"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped units and numerals."""
        read = lru_cache(REMEMBERED)(_reader())
        return cls(lambda text: read(without_identifiers(text)))

    def veto(self, compared: Compared, /) -> str | None:
        """The numbers of both, if they differ."""
        asked, nearest = compared.asked, compared.nearest
        here, there = self.read(asked), self.read(nearest)
        if here == there or not _differ(here, there, _alike(asked, nearest)):
            return None
        stored = [self.read(text) for text in compared.stored]
        if about_any(stored):
            return None
        if any(_agree(here, one) for one in stored):
            return None
        return f"the question has {_listed(here)}, the entry {_listed(there)}"


def in_digits(text: str) -> str:
    """A Japanese or Chinese text with its numerals in digits: 二十三天 as 23天, 令和7年 as 2025年.

    What only contains a numeral stays: 一般, 統一.
    """
    return _reader().spelt(text)


@cache
def _reader() -> _Reader:
    return _Reader.from_table(read_table("numbers.yaml"))


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
    return overlap(asked, nearest, frozenset(numbers | numerals()))


@cache
def numerals() -> frozenset[str]:
    """The words that say a number or a unit."""
    table = read_table("numbers.yaml")
    units = {spelling for spellings in table["units"].values() for spelling in spellings}
    return frozenset({*map(str, table["words"]), *units, *(unit.rstrip("s") for unit in units)})


def _listed(values: Quantities) -> str:
    return ", ".join(sorted(map(str, values))) or "none"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds numbers in a normalised text."""

    words: Mapping[str, str]
    word: Terms
    kanji: re.Pattern[str]
    passed: re.Pattern[str]  # longer words that only contain a numeral
    digits: Mapping[str, int]
    tens: Mapping[str, int]
    era: re.Pattern[str]
    eras: Mapping[str, int]
    quantity: re.Pattern[str]
    units: Mapping[str, tuple[str, ...]]
    conversions: Mapping[str, tuple[int, str]]
    weak: frozenset[str]
    weak_units: frozenset[str]

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        units: dict[str, tuple[str, ...]] = {}
        for unit, spellings in table["units"].items():
            for spelling in spellings:
                units[spelling] = (*units.get(spelling, ()), unit)
        before = "|".join(re.escape(unit) for unit in units if unit in "$€£¥")
        after = "|".join(_unit_pattern(unit) for unit in sorted(units, key=len, reverse=True))
        numerals = "".join([*table["kanji"], *table["kanji_tens"]])
        words = {str(word): str(value) for word, value in table["words"].items()}
        words |= dict.fromkeys(table["passed"], " ")  # longer words that only contain a numeral
        return cls(
            words=words,
            word=Terms.of({word: [word] for word in words}, inflected=False),
            kanji=re.compile(
                rf"(?<![{numerals}])[\d{numerals}]*[{numerals}][\d{numerals}]*"
                rf"(?=[{table['counters']}ヶケカか箇%]|$|[^\u4e00-\u9fff])"
            ),
            passed=re.compile("|".join(map(re.escape, table["passed"]))),
            digits=table["kanji"],
            tens=table["kanji_tens"],
            era=re.compile(rf"({'|'.join(table['eras'])})(元|\d+)(?=年)"),
            eras=table["eras"],
            quantity=re.compile(rf"(?P<before>{before})?\s?(?P<value>{_NUMBER})[\s-]?(?P<after>{after})?"),
            units=units,
            conversions={unit: (factor, smaller) for unit, (factor, smaller) in table["conversions"].items()},
            weak=frozenset(table["weak"]),
            weak_units=frozenset(table["weak_units"]),
        )

    def __call__(self, plain: str) -> Quantities:
        text = self._with_digits(_ORDINAL.sub("", plain))
        if not any(map(str.isdigit, text)):
            return frozenset()
        return frozenset(map(self._quantity, self.quantity.finditer(text)))

    def _with_digits(self, text: str) -> str:
        """The text with its numerals in digits: 二十三 as 23, "five" as 5, 令和7年 as 2025年."""
        text = _A_UNIT_OF.sub(self._one, text)
        pieces, at = [], 0
        for start, end, value in _joined(text, self.word.find(text), self.words):
            pieces += [text[at:start], value]
            at = end
        text = "".join([*pieces, text[at:]])
        if text.isascii():
            return text
        return self._dated(self.kanji.sub(self._kanji_value, text))

    def spelt(self, text: str) -> str:
        """A text with the numerals of its kanji in digits, and all else as it is."""
        if text.isascii():
            return text
        pieces, at = [], 0
        for passed in [*self.passed.finditer(text), None]:
            part = text[at : passed.start() if passed else len(text)]
            pieces += [
                self.kanji.sub(self._kanji_value, _TWO.sub("2", part)),
                passed.group() if passed else "",
            ]
            at = passed.end() if passed else at
        return self._dated("".join(pieces))

    def _dated(self, text: str) -> str:
        """A text with the hours of the day and the years of our calendar."""
        return self.era.sub(
            lambda found: str(self.eras[found[1]] + _era_year(found[2])), _AFTERNOON.sub(_on_the_day, text)
        )

    def _one(self, found: re.Match[str]) -> str:
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

    def _kanji_value(self, found: re.Match[str]) -> str:
        """A kanji numeral in digits: 二十三 is 23, 二〇二六 is 2026, 3万 is 30000."""
        numeral = found.group()
        if not any(character in self.tens for character in numeral):
            return "".join(str(self._digit(character)) for character in numeral)
        total = group = digit = 0
        for character in numeral:
            ten = self.tens.get(character, 0)
            if not ten:
                digit = digit * 10 + self._digit(character)
            elif ten < 10_000:
                group, digit = group + max(digit, 1) * ten, 0
            else:
                total, group, digit = total + max(group + digit, 1) * ten, 0, 0
        return str(total + group + digit)

    def _digit(self, character: str) -> int:
        """The value of a digit: 三, 3, or that of another script (٣)."""
        return self.digits[character] if character in self.digits else int(character)


def _unit_pattern(unit: str) -> str:
    return rf"{re.escape(unit)}(?![a-z])" if unit.isascii() and unit[-1].isalpha() else re.escape(unit)


def _on_the_day(found: re.Match[str]) -> str:
    """The hour of the day: 午後5 is 17."""
    hour = int(found[1])
    return str(hour + _NOON if hour < _NOON else hour)


def _era_year(written: str) -> int:
    return 1 if written == "元" else int(written)


def _joined(text: str, found: Iterable[Found], words: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Numerals with their place; those that stand beside each other are one: "two hundred and fifty"."""
    start = end = 0
    values: list[Fraction] = []
    for one in sorted(found):
        value = words[one.word]
        beside = text[end : one.start].strip(" -") in ("", "and")
        if values and (value == " " or not beside):
            yield start, end, _total(values)
            values = []
        if value == " ":
            yield one.start, one.end, value
            continue
        start, end = (start if values else one.start), one.end
        values.append(Fraction(value))
    if values:
        yield start, end, _total(values)


def _total(values: Iterable[Fraction]) -> str:
    """The value of numerals in a row, in digits: 2, 100, 50 is 250."""
    total = group = Fraction(0)
    for value in values:
        if value == _HUNDRED:
            group = max(group, Fraction(1)) * value
        elif value > _HUNDRED:
            total, group = total + max(group, Fraction(1)) * value, Fraction(0)
        else:
            group += value
    number = total + group
    return str(number) if number.denominator == 1 else str(float(number))
