"""Numbers that stand nowhere in the contexts, but follow from those that do: a sum, a difference, a share.

A total or a difference counts where the statement says that it is one ("altogether", "fifty more", 合わせて);
a multiple where the statement or its question has the factor; what lies between two neighbouring times or
dates, and a share of an amount, if the evidence, the statement or its question has the per cent, count by
themselves.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.quantities.weekdays import day_after
from classifiers.faithfulness.said import Said

__all__ = ["LASTS", "MONEY", "Reckoning", "is_bare", "spans"]

TOTAL = re.compile(
    r"\b(?:total\w*|altogether|together|in all|combined|plus|sum|adds? up|on top|additional|surcharge)\b"
    r"|合わせ|あわせ|合計|合算|総額|全部で|トータル|追加|加算|一共|合计|总共|共计|加起来|加上|总计|另加|另收"
)
DIFFERENCE = re.compile(
    r"\b(?:more|less|extra|fewer|saves?|difference|gains?|(?:cheap|long|short|lat|earli|high|low|dear)er)\b"
    r"|差|長|短|遅|早|安|高|多|少|残|长|晚|便宜|贵|省|低|剩"
)
BARE = frozenset({"", "count", "order", "year#", "month#", "identifier", "address", "clock", "weekday"})
NEXT_DAY = re.compile(
    r"\b(?:next|following) (?:\w+ )?day\b|\bday after\b|翌日|翌平日|翌営業日|次日|第二天|顺延"
)
MONEY = frozenset({"jpy", "usd", "eur", "gbp", "cny"})
LASTS = re.compile(r"day|日間|天")  # no date
SMALLEST = 3  # smaller numbers come about by chance
MOST = 100
DAY = 1440
MOST_REMEMBERED = 64  # statements


class Reckoning:
    """What can be reckoned from the numbers of some lines."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def gives(self, number: Quantity, each: Said, here: Sequence[Line]) -> bool:
        """Whether a number of a statement follows from those of the lines; `here` is its evidence."""
        if number.unit == "weekday":
            return number.value in self._days_after
        if is_bare(number):
            return False
        value = Decimal(number.value)
        amounts = self.amounts.get(number.unit, set())
        if value in spans(number.unit, here):
            return True
        near = Reckoning([*here, each.line, each.asked])  # any per cent of any amount gives any number
        if number.unit != "%" and any(value / part in amounts for part in near.parts):
            return True
        if number.unit in MONEY and _is_multiple(value, amounts, each):
            return True
        if number.unit == "%" and 100 - value in amounts and _tells(each, 100 - value):
            return True
        if value < SMALLEST:
            return False
        told = each.line.plain
        added = self._speak_of_totals or _speaks_of(TOTAL, told)
        if added and any(one != value - one and value - one in amounts for one in amounts):
            return True
        return _speaks_of(DIFFERENCE, told) and any(one + value in amounts for one in amounts)

    @cached_property
    def parts(self) -> frozenset[Decimal]:
        """What the per cents of the lines take of an amount, and what they leave."""
        shares = [one / 100 for one in self.amounts.get("%", ()) if 0 < one < 100]
        return frozenset([*shares, *(1 - one for one in shares)])

    @cached_property
    def amounts(self) -> dict[str, set[Decimal]]:
        """Their amounts by unit."""
        found: dict[str, set[Decimal]] = {}
        for line in self._lines:
            for one in line.quantities:
                if one.unit not in BARE:
                    found.setdefault(one.unit, set()).add(Decimal(one.value))
        return found

    @cached_property
    def _speak_of_totals(self) -> bool:
        return any(TOTAL.search(line.plain) for line in self._lines)

    @cached_property
    def _days_after(self) -> set[str]:
        """Days of the week that follow one of the lines, where those speak of the next day."""
        if not any(NEXT_DAY.search(line.plain) for line in self._lines):
            return set()
        named = (one for line in self._lines for one in line.quantities if one.unit == "weekday")
        return {day_after(one.value) for one in named}


def is_bare(number: Quantity) -> bool:
    """Whether one does not reckon with it: a date, a time of day, a place in a row, a name."""
    return number.unit in BARE or (number.unit == "day" and not LASTS.search(number.text))


@lru_cache(MOST_REMEMBERED)
def _speaks_of(words: re.Pattern[str], told: str) -> bool:
    """Asked for every number of a statement, of which a long one has thousands."""
    return words.search(told) is not None


def _is_multiple(value: Decimal, amounts: Iterable[Decimal], each: Said) -> bool:
    factors = (value / amount for amount in amounts if amount)
    return any(1 < factor <= MOST and factor in each.counted for factor in factors)


def _tells(each: Said, percent: Decimal) -> bool:
    """Whether a statement has what is left of the whole: 3割 and 7割."""
    return any(one.unit == "%" and Decimal(one.value) == percent for one in each.line.quantities)


def spans(unit: str, here: Iterable[Line]) -> Iterator[Decimal]:
    """Minutes from one clock time of a line to the next, days between two dates, both counted or not."""
    wanted = {"minute": "clock", "day": "day"}.get(unit)
    for line in here:
        times = (Decimal(one.value) for one in line.quantities if one.unit == wanted)
        for begin, end in itertools.pairwise(times):
            if wanted == "clock":
                yield (end - begin) % DAY
            elif begin < end:
                yield from (end - begin, end - begin + 1)
