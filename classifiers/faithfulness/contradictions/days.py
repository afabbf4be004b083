"""Where a time is another day's: "on Saturday until 8 pm" beside "Mon-Fri 8:30 am - 8 pm, Sat 9 am - 5 pm".

Days are numbers, of which a range has all, so no word tells these parts apart. A time is of the days that
stand in its part of a sentence, or stood there last; of any day where none did. It is another day's if no
part that has it is of the day told, and a part of that day has other times.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.said import Said

__all__ = ["of_another_day"]

# Other days than were told last, of which nothing says which they are.
OTHER_DAYS = re.compile(
    r"\b(?:holidays?|every day|each day|daily|days|week|otherwise)\b"
    r"|[休祝祭毎]日|そ[のれ](?:ほか|他|以外)|假[日期]|每[天日]|其[他余]"
)
# After six and at weekends: either will do.
EITHER = re.compile("(?:[之以][前后後]|以降|まで)(?:[及和与與或とやか]|または|および|、)")
# What tells a time only to say that it is not this day's.
INSTEAD = re.compile(r"\b(?:instead|rather|than|unlike)\b|ではな|より|而[不非]|比")
MOST_REMEMBERED = 2_048  # sentences


@dataclass(frozen=True, slots=True)
class _Hours:
    """A part of a sentence with a time, and the days that it is told of; of any if there are none."""

    days: frozenset[str]
    line: Line

    def has(self, time: Quantity) -> bool:
        """Whether a time stands in it."""
        return self.line.pool.find(time) == "same"


def of_another_day(each: Said, known: Sequence[Line], theirs: Collection[str]) -> Iterator[tuple[str, str]]:
    """Times of the statement, and the part that has other ones for their day.

    Args:
        theirs: numbers of the statement that do not stand in the contexts.
    """
    told = [one for one in _hours_told(each) if one.days and not _tells_of_others(one.line)]
    if not told:
        return
    there = [one for line in known if _times(line) for one in _hours(line.text)]
    for mine in told:
        named = _named(mine.line) or _named(each.asked)
        for time in _times(mine.line):
            if time.text in theirs or each.asked.pool.find(time) == "same":
                continue
            if rival := _rival(mine, time, named, there):
                yield time.text, rival.line.text.strip()


def _hours_told(each: Said) -> tuple[_Hours, ...]:
    """The times of a statement, which are of the days that were asked about if it names none."""
    found = _hours(each.line.text)
    if _days(each.line) or OTHER_DAYS.search(each.line.plain):
        return found
    asked = frozenset(day.value for day in _days(each.asked))
    return tuple(replace(one, days=asked) for one in found)


def _named(line: Line) -> Collection[frozenset[str]]:
    """Days, by the words that say them."""
    found: dict[str, frozenset[str]] = {}
    for day in _days(line):
        found[day.text] = found.get(day.text, frozenset()) | {day.value}
    return found.values()


def _rival(
    mine: _Hours, time: Quantity, named: Iterable[frozenset[str]], there: Sequence[_Hours]
) -> _Hours | None:
    """A part with other times for the day, if each with this one is another day's."""
    having = [one.days for one in there if one.has(time)]
    lacking = mine.days.difference(*having)
    if not having or not all(having) or not lacking:
        return None
    if any(lacking.isdisjoint(days) for days in named):  # ordered by Friday 15:00, delivered on Monday
        return None
    return next((one for one in there if one.days & lacking and _has_others(one.line, mine.line)), None)


def _has_others(line: Line, said: Line) -> bool:
    return any(said.pool.find(time) != "same" for time in _times(line))


def _tells_of_others(part: Line) -> bool:
    return bool(part.denials) or bool(INSTEAD.search(part.plain))


@lru_cache(MOST_REMEMBERED)
def _hours(text: str) -> tuple[_Hours, ...]:
    """The parts with a time, in which days stand before their times, or behind them as in the first one."""
    found: list[_Hours] = []
    last = waiting = frozenset[str]()
    line = Line(text)
    behind = not _begins_with_a_day(line)
    for part in (part for between_joints in line.parts for part in _by_days(between_joints)):
        days = frozenset(day.value for day in _days(part))
        if not days and OTHER_DAYS.search(part.plain):
            last = waiting = frozenset()
        if _times(part):
            last = waiting | days or last
            waiting = frozenset()
            found.append(_Hours(frozenset() if EITHER.search(part.plain) else last, part))
        elif found and behind:  # or before the time that follows: which, nothing says
            found[-1] = replace(found[-1], days=found[-1].days | days)
            last = frozenset()
        else:
            waiting |= days
    return tuple(found)


def _by_days(part: Line) -> Iterator[Line]:
    """A part cut where another day follows a time: 平日9:00〜20:00 土曜9:00〜17:00."""
    places = _places(part) if _begins_with_a_day(part) else []
    cuts = [at for (_, day_before), (at, is_day) in pairwise(places) if is_day and not day_before]
    if not cuts:
        yield part
        return
    for begin, end in pairwise([0, *cuts, len(part.plain)]):
        yield Line(part.plain[begin:end])


def _begins_with_a_day(line: Line) -> bool:
    places = _places(line)
    return bool(places) and places[0][1]


def _places(line: Line) -> list[tuple[int, bool]]:
    """Where its days and times stand, and which of both."""
    return sorted(
        {
            (place.start(), one.unit == "weekday")
            for one in (*_days(line), *_times(line))
            for place in re.finditer(rf"(?<!\d){re.escape(one.text)}", line.plain)
        }
    )


def _days(line: Line) -> tuple[Quantity, ...]:
    return tuple(one for one in line.quantities if one.unit == "weekday")


def _times(line: Line) -> tuple[Quantity, ...]:
    return tuple(one for one in line.quantities if one.unit == "clock")
