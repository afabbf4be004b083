"""Numbers in words, as digits: 二十三 is 23, "two hundred and fifty" is 250, 令和7年 is 2025年."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Self

from cache.reading.tables import Terms, read_table

__all__ = ["Numerals", "numerals"]

_HUNDRED = 100
_AFTERNOON = re.compile(r"(?:午後|下午|晚上)の?(\d{1,2})(?=[時时点點])")
_NOON = 12
_TWO = re.compile(r"[两兩](?=[个個张張天年次件条條位人块塊元名台本周週小])")
_NONE = " "  # the value of a word that only contains a numeral


@cache
def numerals() -> Numerals:
    """The numerals that ship."""
    return Numerals.from_table(read_table("numerals.yaml", "cache.reading"))


@dataclass(frozen=True, slots=True)
class Numerals:
    """Writes numbers in digits. A longer word that only contains one stays: 一般, 統一."""

    words: Mapping[str, str]  # and their values
    word: Terms
    kanji: re.Pattern[str]
    passed: re.Pattern[str]  # longer words that only contain a numeral
    digits: Mapping[str, int]
    tens: Mapping[str, int]
    era: re.Pattern[str]
    eras: Mapping[str, int]

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """The numerals of numerals.yaml."""
        kanji = "".join([*table["kanji"], *table["kanji_tens"]])
        words = {str(word): str(value) for word, value in table["words"].items()}
        return cls(
            words=words,
            word=Terms.of({word: [word] for word in [*words, *table["passed"]]}, inflected=False),
            kanji=re.compile(
                rf"(?<![{kanji}])[\d{kanji}]*[{kanji}][\d{kanji}]*"
                rf"(?=[{table['counters']}ヶケカか箇%]|{'|'.join(table['longer_counters'])}|$|[^\u4e00-\u9fff])"
            ),
            passed=re.compile("|".join(map(re.escape, table["passed"]))),
            digits=table["kanji"],
            tens=table["kanji_tens"],
            era=re.compile(rf"({'|'.join(table['eras'])})(元|\d+)(?=年)"),
            eras=table["eras"],
        )

    def in_digits(self, text: str) -> str:
        """A normalised text with all its numerals in digits: 二十三 as 23, "five" as 5, 令和7年 as 2025年."""
        pieces, at = [], 0
        for start, end, value in self._joined(text):
            pieces += [text[at:start], value]
            at = end
        text = "".join([*pieces, text[at:]])
        if text.isascii():
            return text
        return self._dated(self.kanji.sub(self._kanji_value, text))

    def kanji_in_digits(self, text: str) -> str:
        """A text with the numerals of its kanji in digits, and all else as it is: 二十三天 as 23天."""
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

    def _joined(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Numerals with their place; those that stand beside each other are one: "two hundred and fifty"."""
        start = end = 0
        values: list[Fraction] = []
        for one in sorted(self.word.find(text)):
            value = self.words.get(one.word, _NONE)
            beside = text[end : one.start].strip(" -") in ("", "and")
            if values and (value == _NONE or not beside):
                yield start, end, _total(values)
                values = []
            if value == _NONE:
                yield one.start, one.end, value
                continue
            start, end = (start if values else one.start), one.end
            values.append(Fraction(value))
        if values:
            yield start, end, _total(values)

    def _dated(self, text: str) -> str:
        """A text with the hours of the day and the years of our calendar."""
        return self.era.sub(
            lambda found: str(self.year_of_era(found[1], found[2])), _AFTERNOON.sub(_on_the_day, text)
        )

    def year_of_era(self, era: str, year: str) -> int:
        """The year of our calendar: 2025 for 令和 and 7, 2019 for 令和 and 元.

        Raises:
            LookupError: if the era is not known.
        """
        return self.eras[era] + _era_year(year)

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


def _on_the_day(found: re.Match[str]) -> str:
    """The hour of the day: 午後5 is 17."""
    hour = int(found[1])
    return str(hour + _NOON if hour < _NOON else hour)


def _era_year(written: str) -> int:
    return 1 if written == "元" else int(written)


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
