"""Days of the week as numbers: Monday to Friday, 土日, 平日, 周一至周五, "daily"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from classifiers.faithfulness.quantities.numerals import kanji_value
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.quantities.signs import Look

__all__ = ["day_after", "day_before", "weekday_patterns"]

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
JAPANESE = "月火水木金土日"
CHINESE = "一二三四五六日"
SHORT = (*DAYS, "tues", "thur", "thurs")
ENGLISH = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def weekday_patterns() -> Iterator[Look]:
    """What says a day of the week."""
    range_en = r"(?:\s?[-–—]\s?|\s(?:to|through|till|until)\s)"
    signs = " ".join([*(f"{day} {day}s" for day in ENGLISH), *SHORT])
    named, short = f"(?:{'|'.join(ENGLISH)})s?", rf"(?:{'|'.join(SHORT)})\b\.?"
    # "Sat" is a day in a range, before a colon and before a time; else it may be a verb.
    either, alone = f"(?:{named}|{short})", rf"{named}\b|{short}(?=:|,? \d{{1,2}}(?:[:.]\d\d| ?[ap]m| ?[-–]))"
    yield Look(signs, rf"\b(?:(?P<from>{either}){range_en}(?P<to>{either})|(?P<one>{alone}))", _english)
    of_month = rf"[{JAPANESE}]曜|[个個]?(?:[周週]|星期|礼拜|禮拜)[{CHINESE}天]"
    nth = "(?:[1-5]|[一二三四五])"
    yield Look("第", rf"第(?P<n>{nth}(?:[・、,と和与及]第?{nth})*)(?={of_month})", _nth)
    day = rf"[{JAPANESE}](?:曜日?)?"
    yield Look(
        "曜",
        rf"(?P<from>[{JAPANESE}])曜日?(?:(?:から|[〜~–-])(?P<to>[{JAPANESE}])曜日?)?"
        rf"|(?P<list>{day}(?:[・、と]{day})+)(?<=曜)日?|(?P<first>[{JAPANESE}])(?:から|[〜~–-])(?P<last>[{JAPANESE}])曜日?",
        _japanese,
    )
    begins, ends = rf"(?<![\d一-龥])(?P<first>[{JAPANESE}])", "(?![一-龥])"
    yield Look("〜 ~ – -", rf"{begins}[〜~–-](?P<last>[{JAPANESE}]){ends}", _abbreviated)
    yield Look("・", rf"{begins}(?:・[{JAPANESE}])+{ends}(?=[\s:]*[\dはが]|・祝)", _abbreviated)
    week = "(?:[周週]|星期|礼拜|禮拜)"
    chinese = rf"{week}(?P<from>[{CHINESE}天])(?:[至到—–~-]{week}?(?P<to>[{CHINESE}天]))?"
    yield Look("周 週 期 拜", chinese, _chinese)
    groups = r"\bweek(?:day|end)s?\b|平日|土日|週末|周末|(?<![\d个個数几一二三四五六七八九十两兩])工作日"
    yield Look("weekday weekdays weekend weekends 平 土 週 周 工", groups, _group)


def day_after(day: str) -> str:
    """The value of the next day of the week."""
    return DAYS[(DAYS.index(day) + 1) % len(DAYS)]


def day_before(day: str) -> str:
    """The value of the day of the week before it."""
    return DAYS[DAYS.index(day) - 1]


def _english(match: re.Match[str]) -> Iterator[Quantity]:
    end = DAYS.index(match["to"][:3]) if match["to"] else None
    yield from _days(DAYS.index((match["from"] or match["one"])[:3]), end, match[0])


def _japanese(match: re.Match[str]) -> Iterator[Quantity]:
    if match["list"]:
        for day in re.findall(rf"[{JAPANESE}](?=曜|[・、と]|$)", match["list"]):
            yield from _days(JAPANESE.index(day), None, match[0])
        return
    begin, end = match["from"] or match["first"], match["to"] or match["last"]
    yield from _days(JAPANESE.index(begin), JAPANESE.index(end) if end else None, match[0])


def _abbreviated(match: re.Match[str]) -> Iterator[Quantity]:
    """月〜金, 火・木."""
    begin, groups = JAPANESE.index(match["first"]), match.groupdict()
    if end := groups.get("last"):
        yield from _days(begin, JAPANESE.index(end), match[0])
        return
    for day in match[0].split("・"):
        yield from _days(JAPANESE.index(day), None, match[0])


def _chinese(match: re.Match[str]) -> Iterator[Quantity]:
    begin, end = ("日" if day == "天" else day for day in (match["from"], match["to"]))
    yield from _days(CHINESE.index(begin), CHINESE.index(end) if end else None, match[0])


def _nth(match: re.Match[str]) -> Iterator[Quantity]:
    """第1・第3金曜日, 第2・4土曜: which weeks of the month."""
    for number in re.findall("[1-5一二三四五]", match["n"]):
        yield Quantity(str(int(kanji_value(number))), "order", match[0])


def _group(match: re.Match[str]) -> Iterator[Quantity]:
    """Mostly another word for what the contexts say by name, so it claims no day."""
    weekend = match[0].startswith(("weekend", "土", "週", "周"))
    for day in (5, 6) if weekend else range(5):
        yield Quantity(DAYS[day], "weekday", match[0], is_label=True)


def _days(begin: int, end: int | None, text: str) -> Iterator[Quantity]:
    """One day, or all from one to another, of which only the first and the last are claimed."""
    last = begin if end is None else end
    for step in range((last - begin) % len(DAYS) + 1):
        day = (begin + step) % len(DAYS)
        yield Quantity(DAYS[day], "weekday", text, is_label=day not in (begin, last))
