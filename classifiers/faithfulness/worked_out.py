"""Numbers that an answer works out for its asker, from what he tells of himself and what the contexts have.

Fourteen months at 20 yuan each; 80 % of the 50 yuan that were paid; 30 days after 2 April. One of the numbers
must be the asker's own, or worked out from one: what follows from those of the contexts alone, `arithmetic`
says. What a sum that is written out comes to needs neither: 280 + 3 × 75 = 505.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from classifiers.faithfulness.arithmetic import MONEY, is_bare, spans
from classifiers.faithfulness.dates import days_that_follow
from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.said import Said

__all__ = ["worked_out"]

ROUNDS: Final = 4  # of results that are reckoned with in turn
ROUNDED: Final = Decimal("0.5")  # a share of money is told in whole units
LARGEST_FACTOR: Final = 1000
MOST_TOLD: Final = (
    40  # numbers; who lists more tells no case of his own, and all pairs of them would be tried
)
MOST_TAKEN_UP: Final = 40
COUNTS: Final = ("", "count")
AMOUNT: Final = r"[€$£¥]?\s?\d[\d,]{0,12}(?:\.\d{1,4})?(?:\s?[^\W\d_x]{1,7})?"
SUM: Final = re.compile(rf"{AMOUNT}(?:\s?[+×*x÷/-]\s?{AMOUNT}){{1,6}}")
PRODUCT: Final = re.compile(r"(^|[+-])([^+-]+)")
FACTOR: Final = re.compile(r"([×*x÷/]?)[^\d×*x÷/]*(\d[\d,]*(?:\.\d+)?)")
TIMES: Final = ("", "time")  # "up to 7 times the postage", 运费的7倍


def worked_out(statements: Sequence[Said], known: Passages) -> frozenset[Quantity]:
    """The numbers of an answer that stand nowhere and follow from the asker's own."""
    results = {result for each in statements for result in _written_out(each.line.plain)}
    asked = statements[0].asked if statements else None
    told = asked.told if asked and len(asked.told) <= MOST_TOLD else ()
    lasting = {*spans("minute", (each.line for each in statements))}  # 1点到5点, so four hours
    if not told and not results and not lasting:
        return frozenset()
    numbers = [number for each in statements for number in each.numbers]
    taken_up = [one for one in numbers if known.find(one) == "same"]
    left = {*numbers} - {*taken_up} - {one for one in numbers if asked and asked.tells(one)}
    if not left:
        return frozenset()
    found = left & {*days_that_follow(numbers, told, known.lines)}
    found |= {one for one in left if not is_bare(one) and Decimal(one.value) in results}
    found |= {one for one in left if one.unit == "minute" and Decimal(one.value) in lasting}
    for _ in range(ROUNDS):
        sums = _Sums([*told, *found], taken_up, known)
        new = {one for one in left - found if not is_bare(one) and sums.give(one)}
        if not new:
            break
        found |= new
    return frozenset(found)


def _written_out(text: str) -> Iterator[Decimal]:
    """What the sums of a text come to: 14 months × 20 yuan, 90 + 90 + 45."""
    for written in SUM.finditer(text):
        total = Decimal(0)
        for sign, product in PRODUCT.findall(written[0]):
            value = Decimal(1)
            for operator, digits in FACTOR.findall(product):
                number = Decimal(digits.replace(",", ""))
                value = value * number if operator not in ("÷", "/") else value / (number or 1)
            total += -value if sign == "-" else value
        yield total


class _Sums:
    """What may be reckoned with.

    Args:
        own: the asker's numbers, and those worked out from them.
        taken_up: the numbers of the contexts that the answer repeats; only these are added three at a time.
    """

    def __init__(self, own: Iterable[Quantity], taken_up: Iterable[Quantity], known: Passages) -> None:
        self._own = [one for one in own if one.unit in COUNTS or not is_bare(one)][:MOST_TOLD]
        self._steps = _steps(taken_up)
        self._amounts = known.reckoning.amounts
        self._parts = known.reckoning.parts
        self._times = {
            Decimal(one.value) for line in known.lines for one in line.quantities if one.unit in TIMES
        }

    def give(self, number: Quantity) -> bool:
        """Whether one of the own numbers makes this one with another: ±, times, or a share of it."""
        unit, value = number.unit, Decimal(number.value)
        mine = {Decimal(one.value) for one in self._own if _adds_up(one.unit, unit)}
        there = self._amounts.get(unit, set()) | mine
        return (
            any(abs(one - value) in there or one + value in there for one in mine)
            or any(1 < one <= LARGEST_FACTOR and value / one in there for one in self._factors(unit))
            or any(one and value / one in self._times for one in mine)
            or any(abs(one * part - value) <= _rounded(unit) for one in mine for part in self._parts)
            or any(abs(value - one) in self._steps.get(unit, ()) for one in mine)
        )

    def _factors(self, unit: str) -> set[Decimal]:
        """Numbers of other units; of "2 hours" both 2 and its minutes."""
        others = [one for one in self._own if one.unit != unit]
        return {Decimal(each) for one in others for each in (one.value, one.written) if each}


def _steps(taken_up: Iterable[Quantity]) -> Mapping[str, set[Decimal]]:
    """By unit, the sums and differences of two of these numbers."""
    amounts = defaultdict[str, set[Decimal]](set)
    for one in taken_up:
        if not is_bare(one) and len(amounts[one.unit]) < MOST_TAKEN_UP:
            amounts[one.unit].add(Decimal(one.value))
    return {
        unit: {abs(step) for a, b in itertools.combinations(some, 2) for step in (a + b, a - b)}
        for unit, some in amounts.items()
    }


def _adds_up(one: str, other: str) -> bool:
    """Whether amounts of two units can be added; "I paid 300" is money."""
    return one == other or {one, other} in ({"", money} for money in MONEY)


def _rounded(unit: str) -> Decimal:
    return ROUNDED if unit in MONEY else Decimal(0)
