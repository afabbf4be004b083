"""One number with its unit, and the numbers of a passage, to be asked for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from classifiers.faithfulness.quantities.units import DAY_MINUTES, EXACT, compatible

__all__ = ["Quantity", "QuantityPool", "Reader", "plain"]

HOURS_A_DAY = 24
ROUNDED = 1.0  # degrees
APPROXIMATION = 0.05  # "about 5,000" may stand for 5,021


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number with its unit: "1,200円", "千二百円" and "¥1200" are equal but for their text."""

    value: str  # decimal without exponent or trailing zeros; clock times in minutes
    unit: str  # canonical, "" if none was written
    text: str  # as written, after NFKC
    approximate: bool = False
    written: str = ""  # the value before it was converted: 2 of "2 hours"
    is_label: bool = False  # "step 6", "the two": names a part of the answer itself

    @property
    def is_count(self) -> bool:
        """Whether it may only count what is listed, or be no number: "three ways", 2つの団体, 一日, 1通."""
        alone = self.text.startswith("一") or (self.unit == "article" and self.value == "1")
        return self.is_label or alone or (self.unit == "count" and float(self.value) <= 12)


Reader = Callable[[re.Match[str]], Iterator[Quantity]]  # of what a pattern found


class QuantityPool:
    """The quantities of a passage, to be asked whether another text's quantity is among them."""

    def __init__(self, found: Iterable[Quantity]) -> None:
        self._units: dict[str, set[str]] = {}
        self._written = set[str]()
        for each in found:
            self._units.setdefault(each.value, set()).add(each.unit)
            self._written.add(each.written)

    def find(self, wanted: Quantity) -> Literal["same", "other unit", "new"]:
        """Whether the value stands here, and with a unit that can be the same."""
        units = self._units.get(wanted.value, set())
        if any(compatible(each, wanted.unit) for each in units) or self._otherwise(wanted):
            return "same"
        return "other unit" if units else "new"

    def _otherwise(self, wanted: Quantity) -> bool:
        """Whether it stands here in another form: 24 hours for a day, 74 °C for 165 °F, 5 for 17:00."""
        if wanted.unit == "clock":  # morning and afternoon are told apart by their words
            at = int(wanted.value)
            return "clock" in self._units.get(str((at + 720) % 1440), ()) or self._is_bare_hour(at)
        if not wanted.unit and (wanted.value in self._written or self._is_hour(wanted.value)):
            return True
        if wanted.written and "" in self._units.get(wanted.written, ()):
            return True
        if wanted.unit in ("day", "minute"):
            return self._in_days(wanted)
        if wanted.unit in ("c", "f"):
            return self._warm_as(wanted)
        return wanted.approximate and self._near(wanted)

    def _is_bare_hour(self, minutes: int) -> bool:
        """ "3 a.m." where "from 3 to 5 a.m." stands."""
        hours = (minutes // 60, (minutes // 60 + 12) % 24)
        bare = (self._units.get(str(hour), ()) for hour in hours)
        return minutes % 60 == 0 and any(unit in units for units in bare for unit in ("", "count"))

    def _is_hour(self, value: str) -> bool:
        """ "from ten" where 22:00 stands."""
        if not value.isdecimal() or not 0 < int(value) <= HOURS_A_DAY:
            return False
        minutes = (int(value) * 60 % DAY_MINUTES, (int(value) * 60 + 720) % DAY_MINUTES)
        return any("clock" in self._units.get(str(at), ()) for at in minutes)

    def _in_days(self, wanted: Quantity) -> bool:
        value = Decimal(wanted.value)
        same = (value * DAY_MINUTES, "minute") if wanted.unit == "day" else (value / DAY_MINUTES, "day")
        return same[1] in self._units.get(plain(same[0]), ()) or (wanted.approximate and self._near(wanted))

    def _warm_as(self, wanted: Quantity) -> bool:
        value = float(wanted.value)
        here, there = (value * 9 / 5 + 32, "f") if wanted.unit == "c" else ((value - 32) * 5 / 9, "c")
        return any(
            abs(float(other) - here) <= ROUNDED and units & {there, "degree"}
            for other, units in self._units.items()
            if units & {there, "degree"}
        )

    def _near(self, wanted: Quantity) -> bool:
        value = float(wanted.value)
        return any(
            abs(float(other) - value) <= APPROXIMATION * abs(value)
            for other, units in self._units.items()
            if any(compatible(each, wanted.unit) for each in units - EXACT)
        )


def plain(value: Decimal) -> str:
    """A value without exponent or trailing zeros."""
    return format(value.normalize(), "f")
