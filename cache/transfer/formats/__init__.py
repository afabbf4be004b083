"""A number, a day or a time of a sheet as its format shows it: 0.1 as 10%, 1980 as 1,980円, 0.375 as 9:00.

Formats are those of ECMA-376, Part 1, 18.8.31 (`codes`): of up to four sections the value's sign, or the
sections' own conditions, choose one, which shows a number (`numbers`) or a day and time (`moments`). What a
format leaves to the computer, as names of months, and what is not read here (fractions, powers of ten,
numerals in kanji), is an UnknownLook: a wrong figure in an answer is worse than none.
"""

from __future__ import annotations

from datetime import date, time, timedelta

from cache.transfer.formats.codes import UnknownLook, sections_of
from cache.transfer.formats.moments import shown_moment
from cache.transfer.formats.numbers import shown_number

__all__ = ["UnknownLook", "Value", "shown"]

Value = int | float | date | time | timedelta


def shown(value: Value, code: str) -> str:
    """A value as a format shows it, without the spaces around it.

    Raises:
        UnknownLook: if that depends on more than the format, or the format is not read here.
    """
    sections = sections_of(code)
    if isinstance(value, int | float):
        return shown_number(sections, value).strip()
    return shown_moment(sections[0], value).strip()
