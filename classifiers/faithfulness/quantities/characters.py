"""Numbers as Japanese and Chinese write them out: 四点五元, 第三、四周.

They are read before the times of the day and the plain numbers, which would take them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from classifiers.faithfulness.quantities.numerals import KANJI, kanji_value
from classifiers.faithfulness.quantities.pool import Quantity, plain
from classifiers.faithfulness.quantities.signs import Look
from classifiers.faithfulness.quantities.units import UNITS, converted, unit

__all__ = ["character_patterns"]

# What is told in parts: 三点一人 and 三点五分 are no decimals.
MEASURED = (
    "%", "jpy", "usd", "eur", "gbp", "cny", "hour", "year", "kg", "ton", "g", "km", "cm", "mm", "m", "mile",
    "l", "ml", "c", "degree", "mb", "gb", "tb",
)  # fmt: skip
DIGITS = "[〇零一二三四五六七八九]"
NUMBERED = "[周週条條项項期章节節季]"  # of which one has a place in a row


def character_patterns() -> Iterator[Look]:
    """What is written in characters and is one number, or several with one unit."""
    measure = "|".join(sorted("|".join(UNITS[name] for name in MEASURED).split("|"), key=len, reverse=True))
    decimal = rf"(?P<n>{KANJI}{{1,9}})[点點](?P<m>{DIGITS}{{1,4}})(?P<unit>{measure})(?![a-z])"
    yield Look("点 點", decimal, _decimal)
    number = rf"(?:\d{{1,3}}|{KANJI}{{1,3}})"
    more = rf"(?:[、,・和与與及至到~–-]{number})*"
    yield Look("第", rf"第(?P<n>{number}{more}){NUMBERED}", _in_a_row)


def _decimal(match: re.Match[str]) -> Iterator[Quantity]:
    """每度四点五元: 4.5."""
    digits = "".join(plain(kanji_value(digit)) for digit in match["m"])
    value = kanji_value(match["n"]) + Decimal(f"0.{digits}")
    compared, smaller = converted(value, unit(match["unit"]))
    yield Quantity(plain(compared), smaller, match[0])


def _in_a_row(match: re.Match[str]) -> Iterator[Quantity]:
    """第3周, 第三、四周: places in a row, which rise; each by itself."""
    places = [kanji_value(number) for number in re.findall(rf"\d+|{KANJI}+", match["n"])]
    if all(one < other for one, other in pairwise(places)):
        for place in places:
            yield Quantity(plain(place), "order", match[0])
