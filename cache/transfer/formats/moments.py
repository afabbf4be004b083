"""A day, a time or a span of time as a section of its format shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self

from cache.transfer.formats.codes import ENGLISH, JAPANESE, Section, Token, UnknownLook, language_of

__all__ = ["shown_moment"]

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAYS_JA = "月火水木金土日"
_ERAS = ((date(2019, 5, 1), "R", "令和"), (date(1989, 1, 8), "H", "平成"), (date(1926, 12, 25), "S", "昭和"))
_FIRST = date(1901, 1, 1)  # Excel counts a day of 1900 that there was not
_NOON = 12


def shown_moment(section: Section, value: date | time | timedelta) -> str:
    """A day, a time or both, or a span of time.

    Raises:
        UnknownLook: if it lacks what the section shows, or the computer says how that is written.
    """
    kinds = {one.kind for one in section}
    of_spans = "elapsed" in kinds
    if kinds & {"digit", "general", "percent", "test"} or of_spans != isinstance(value, timedelta):
        raise UnknownLook(str(value))
    if not kinds & {"elapsed", "time"}:
        raise UnknownLook(str(value))
    language = next((language_of(one.text) for one in section if one.kind == "locale"), None)
    moment = _Moment.of(value, language=language, halves="noon" in kinds)
    return "".join(moment.part(one) for one in _with_minutes(section))


def _with_minutes(section: Section) -> list[Token]:
    """The section with `n` for an `m` that stands for minutes: behind an hour, or before a second."""
    found = list(section)
    places = [n for n, one in enumerate(section) if one.kind in ("time", "elapsed")]
    for before, here, behind in zip([-1, *places], places, [*places[1:], -1], strict=False):
        one = section[here]
        follows = before >= 0 and section[before].text[0] == "h"
        leads = behind >= 0 and section[behind].text[0] == "s"
        if one.kind == "time" and one.text in ("m", "mm") and (follows or leads):
            found[here] = Token("time", "n" * len(one.text))
    return found


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a section shows parts of."""

    day: date | None
    seconds: int  # of the day, or of the whole span
    whole: bool  # no part of a second is left over
    span: bool
    language: int | None  # that the section asks for
    halves: bool  # hours are those of half a day

    @classmethod
    def of(cls, value: date | time | timedelta, *, language: int | None, halves: bool) -> Self:
        day = value if isinstance(value, date) else None
        match value:
            case timedelta():
                passed = value
            case datetime() | time():
                passed = timedelta(
                    hours=value.hour,
                    minutes=value.minute,
                    seconds=value.second,
                    microseconds=value.microsecond,
                )
            case _:
                passed = timedelta()
        if passed < timedelta() or (day is not None and date(day.year, day.month, day.day) < _FIRST):
            raise UnknownLook(str(value))
        seconds = passed.days * 86_400 + passed.seconds
        return cls(day, seconds, not passed.microseconds, isinstance(value, timedelta), language, halves)

    def part(self, one: Token) -> str:
        """What a token of the section shows."""
        match one.kind:
            case "elapsed":
                return self._elapsed(one.text)
            case "time" if one.text[0] in "hns":
                return self._clock(one.text)
            case "time":
                return self._of_day(one.text)
            case "noon" if self.language in (None, ENGLISH) and not self.span:
                return "AM" if self.seconds < _NOON * 3600 else "PM"
            case "noon":
                raise UnknownLook(one.text)
            case "locale":
                return ""
            case _:
                return one.text

    def _elapsed(self, text: str) -> str:
        self._refuse_torn(text)
        passed = self.seconds // {"h": 3600, "m": 60, "s": 1}[text[0]]
        return f"{passed:0{len(text)}}"

    def _clock(self, text: str) -> str:
        self._refuse_torn(text)
        if len(text) > 2 or (text[0] == "h" and self.span):
            raise UnknownLook(text)
        hour = self.seconds // 3600
        hour = (hour % _NOON or _NOON) if self.halves else hour
        value = {"h": hour, "n": self.seconds // 60 % 60, "s": self.seconds % 60}[text[0]]
        return f"{value:0{len(text)}}"

    def _refuse_torn(self, text: str) -> None:
        if text[0] == "s" and not self.whole:
            raise UnknownLook(text)

    def _of_day(self, text: str) -> str:
        day = self.day
        if day is None:
            raise UnknownLook(text)
        match text:
            case "yyyy" | "yyy":
                return str(day.year)
            case "yy" | "y":
                return f"{day.year % 100:02}"
            case "m" | "mm":
                return f"{day.month:0{len(text)}}"
            case "d" | "dd":
                return f"{day.day:0{len(text)}}"
            case "mmm" | "mmmm" | "ddd" | "dddd" if self.language == ENGLISH:
                name = _MONTHS[day.month - 1] if text[0] == "m" else _DAYS[day.weekday()]
                return name if len(text) == 4 else name[:3]
            case "aaa" | "aaaa" if self.language == JAPANESE:
                return _DAYS_JA[day.weekday()] + "曜日" * (text == "aaaa")
            case "g" | "gg" | "ggg" | "e" | "ee" if self.language == JAPANESE:
                return _of_era(text, day)
        raise UnknownLook(text)


def _of_era(text: str, day: date) -> str:
    """The era of a day, or its year; the first one is 1 or 元, as the computer is set."""
    here = date(day.year, day.month, day.day)
    first, letter, name = next((era for era in _ERAS if here >= era[0]), (here, "", ""))
    year = day.year - first.year + 1
    if year == 1:
        raise UnknownLook(text)
    return {"g": letter, "gg": name[:1], "ggg": name}.get(text) or f"{year:0{len(text)}}"
