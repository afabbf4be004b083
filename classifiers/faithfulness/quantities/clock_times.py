"""Times of the day in English, Japanese and Chinese: 17:30, half past five in the afternoon, 午後5時半."""

from __future__ import annotations

import re
from collections.abc import Iterator

from classifiers.faithfulness.quantities.numerals import KANJI, WORDS, kanji_value
from classifiers.faithfulness.quantities.pool import Quantity
from classifiers.faithfulness.quantities.signs import Look

__all__ = ["clock_patterns"]

DAY = 1440  # minutes
MORNING = ("a", "午前", "上午", "早上", "早晨", "清晨", "凌晨", "朝")
EVENING = ("p", "午後", "下午", "午后", "傍晚", "晚上", "夕方", "夜")
HALVES = "|".join([*MORNING[1:], *EVENING[1:]])
FULL = {"noon": 720, "midday": 720, "正午": 720, "midnight": 0}
HOURS = "|".join(list(WORDS)[1:13])


def clock_patterns() -> Iterator[Look]:
    """What says a time of the day."""
    half = f"(?P<half>{HALVES}|(?<![最至不])[早晚])"
    kanji = rf"(?P<h>\d{{1,2}}|{KANJI}{{1,3}})"
    past = r"(?P<m>半|\d{1,2}分)?"
    after = r"[半钟鐘整至到前后後]|\d{1,2}(?![\d,円元])|[之以][前后後]|起(?!来)|[开開关關停截发發]"
    oclock = rf"(?:時(?![間限])|[点點](?={after}))"
    hour = rf"(?<![\w:.])(?P<h>\d{{1,2}}|{HOURS})"
    of_day = r"in the (?P<day>morning|afternoon|evening)|at (?P<night>night)"
    latin = r"(?<![\d:])(?P<h>\d{1,2})(?::(?P<m>\d{2}))?\s?(?P<half>[ap])\.?m\b\.?"
    yield Look("am pm m", latin, _clock)
    listed = rf"(?:[、,和与與及跟](?:\d{{1,2}}|{KANJI}{{1,3}})[点點])+"
    yield Look("点 點", rf"{half}\s?(?:\d{{1,2}}|{KANJI}{{1,3}})[点點]{listed}", _listed)
    yield Look(":", rf"{half}?(?<!\d)(?<!\d:)(?P<h>\d{{1,2}}):(?P<m>\d{{2}})(?![\d:])", _clock, hint="[0-9]:")
    # 点 is also a decimal point and a matter: it is an hour behind 晚上 or 从, or before what goes with one.
    yield Look("点 點", rf"(?:{half}\s?|(?<=[至到从從自在~—-])){kanji}[点點]{past}", _clock)
    yield Look("時 点 點", rf"{half}?{kanji}{oclock}{past}", _clock)
    part = rf"\b(?P<part>half past|quarter (?:past|to))\s(?P<h>\d{{1,2}}|{HOURS})\b"
    yield Look("half quarter", part, _told)
    yield Look("' ’", rf"{hour}\s?o['’]clock(?:\s(?:{of_day})\b)?", _told, hint="o['’]clock")
    yield Look("morning afternoon evening night", rf"{hour}\s(?:{of_day})\b", _told)
    yield Look("noon midday midnight 正", r"\b(?:noon|midday|midnight)\b|正午", _named)


def _clock(match: re.Match[str]) -> Iterator[Quantity]:
    hour, minutes = int(kanji_value(match["h"])), match["m"] or "0"
    minute = 30 if minutes == "半" else int(minutes.rstrip("分"))
    yield from _hour(hour, minute, match)


def _hour(hour: int, minute: int, match: re.Match[str]) -> Iterator[Quantity]:
    """A time in the half of the day that is told with it."""
    if match["half"] in (*EVENING, "晚") and hour < 12:
        hour += 12
    if match["half"] in MORNING and hour == 12:
        hour = 0
    if hour <= 24 and minute < 60:
        yield _at(hour * 60 + minute, match)


def _listed(match: re.Match[str]) -> Iterator[Quantity]:
    """下午一点、三点和五点: all in the afternoon."""
    for hour in re.findall(rf"(\d+|{KANJI}+)[点點]", match[0]):
        yield from _hour(int(kanji_value(hour)), 0, match)


def _told(match: re.Match[str]) -> Iterator[Quantity]:
    """ "ten in the evening", "half past eight", "5 o'clock"."""
    groups = match.groupdict()
    hour = WORDS[match["h"]] if match["h"] in WORDS else int(match["h"])
    late = groups.get("day") in ("afternoon", "evening") or (groups.get("night") and hour >= 6)
    if late and hour < 12:
        hour += 12
    minutes = {"half past": 30, "quarter past": 15, "quarter to": -15}.get(groups.get("part") or "", 0)
    if hour <= 24:
        yield _at(hour * 60 + minutes, match)


def _named(match: re.Match[str]) -> Iterator[Quantity]:
    yield _at(FULL[match[0]], match)


def _at(minutes: int, match: re.Match[str]) -> Quantity:
    return Quantity(str(minutes % DAY), "clock", match[0])
