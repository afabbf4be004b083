"""Days that follow from one that the asker names: 30 days after 2 April, two months before 1 September."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from classifiers.faithfulness.arithmetic import LASTS
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.quantities.weekdays import day_after, day_before

__all__ = ["days_that_follow"]

YEAR: Final = 2025  # nobody tells which; this one has no 29 February
LONGEST_STEP: Final = 400  # days
MONTHS: Final = 12
DAYS: Final = 365
NEXT_TO: Final = re.compile(
    r"\bday (?:before|after)\b|\b(?:next|previous|following) (?:\w+ )?day\b|前日|翌日|前一天|次日|第二天"
)
WEEKENDS: Final = re.compile(r"土日|週末|周末|休日を除|双休日|weekends?\b|business days?\b|working days?\b")


def days_that_follow(
    numbers: Sequence[Quantity], told: Sequence[Quantity], lines: Sequence[Line]
) -> Iterator[Quantity]:
    """Those numbers of an answer that name such a day or month, a day beside a told weekday, or a span."""
    named = [day for day, _ in _dates(told)]
    month = named[-1].month if named else None
    days, months = _steps(lines) if named else (set(), set())
    by_months = {_months_later(day, step) for day in named for step in months}
    there = {_days_later(day, step) for day in named for step in days}
    there |= by_months | {_days_later(day, -1) for day in by_months}
    for day, parts in _dates(numbers, month):
        if day in there:
            yield from parts
    known = {
        "month#": {str(day.month) for day in by_months},
        "weekday": {*_beside(told, lines)},
        "day": {str(days) for one in named for other in named if one < other for days in _span(one, other)},
    }
    for one in numbers:
        if one.value in known.get(one.unit, ()) and (one.unit != "day" or LASTS.search(one.text)):
            yield one


def _dates(
    numbers: Iterable[Quantity], month: int | None = None
) -> Iterator[tuple[date, tuple[Quantity, ...]]]:
    """Each day with the numbers that name it; one without its month is of the month named last."""
    pending: tuple[Quantity, ...] = ()
    for one in numbers:
        if one.unit == "month#":
            month, pending = int(Decimal(one.value)), (one,)
        elif one.unit == "day" and month is not None:
            if (day := _date(month, Decimal(one.value))) is not None:
                yield day, (*pending, one)
            pending = ()


def _date(month: int, day: Decimal) -> date | None:
    if 1 <= month <= MONTHS and 1 <= day <= calendar.monthrange(YEAR, month)[1] and day == int(day):
        return date(YEAR, month, int(day))
    return None


def _steps(lines: Iterable[Line]) -> tuple[set[int], set[int]]:
    """How many days and months some lines speak of, either way; the first day may count as one.

    Where weekends don't count, there may be some between.
    """
    found = {unit: set[int]() for unit in ("day", "workday", "month")}
    for line in lines:
        for one in line.quantities:
            value = Decimal(one.value) if one.unit in found else Decimal(0)
            if 0 < value <= LONGEST_STEP and value == int(value):
                found[one.unit].add(int(value))
    working = found["workday"] | (found["day"] if any(WEEKENDS.search(one.plain) for one in lines) else set())
    days = found["day"] | {one + 2 * weekends for one in working for weekends in (one // 5, one // 5 + 1)}
    counted = {step for one in days for step in (one, one - 1)}
    return counted | {-one for one in counted}, {step for one in found["month"] for step in (one, -one)}


def _span(begin: date, end: date) -> tuple[int, int]:
    """How many days lie between, and how many they are with the first."""
    days = (end - begin).days
    return days, days + 1


def _days_later(day: date, step: int) -> date:
    """Of the same year: its end is followed by its beginning."""
    first = date(YEAR, 1, 1)
    return first + timedelta(days=((day - first).days + step) % DAYS)


def _months_later(day: date, step: int) -> date:
    month = (day.month - 1 + step) % MONTHS + 1
    return date(YEAR, month, min(day.day, calendar.monthrange(YEAR, month)[1]))


def _beside(told: Iterable[Quantity], lines: Iterable[Line]) -> Iterator[str]:
    """The days of the week before and after one that is told, where the lines speak of the day beside."""
    named = {one.value for one in told if one.unit == "weekday"}
    if named and any(NEXT_TO.search(line.plain) for line in lines):
        for name in named:
            yield from (day_before(name), day_after(name))
