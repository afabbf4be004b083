"""Numbers, dates, clock times and units, in one canonical form for English, Japanese and Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from classifiers.faithfulness.quantities.characters import character_patterns
from classifiers.faithfulness.quantities.clock_times import clock_patterns
from classifiers.faithfulness.quantities.numerals import (
    KANJI,
    LARGE,
    SCALES,
    SMALL,
    WORDS,
    kanji_value,
    word_value,
)
from classifiers.faithfulness.quantities.pool import Quantity, plain
from classifiers.faithfulness.quantities.signs import DIGIT, Look, Lookout
from classifiers.faithfulness.quantities.spoken import MONTHS, one_patterns, spoken_patterns
from classifiers.faithfulness.quantities.units import PREFIX_UNITS, UNITS, converted, unit
from classifiers.faithfulness.quantities.weekdays import weekday_patterns

__all__ = ["quantities"]

ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民国": 1911}
# Units that "one" may stand with and still be a number: "one of them" is none.
MEASURES = frozenset(
    [
        "jpy",
        "usd",
        "eur",
        "gbp",
        "cny",
        "%",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "year",
        "kg",
        "g",
        "km",
        "m",
        "mile",
        "l",
    ]
)
LABEL = re.compile(
    r"\b(?:step|method|option|tip|part|phase|reason|point|example)s?(?: \d+ (?:and|or|to))?\s*$"
    r"|(?:ステップ|手順|方法|ポイント|步骤|方法|方案|第)$"
)
SUMMED_UP = re.compile(r"\b(?:the|these|those|both|between|following)\s*$")
LABEL_REACH = 16
SHORT_OF_ZEROS = re.compile(
    r"(?:[1-9]\d*|[一二两三四五六七八九])[百千万](?:[1-9]|[一二三四五六七八九])"
)  # 三百五 is 350
NOT_NUMBERS = (
    "十分",
    "千葉",
    "千代",
    "万一",
    "百科",
    "百度",
    "八王子",
    "九州",
    "四国",
    "三重",
    "三菱",
    "五輪",
    "十字",
    "十足",
)


def quantities(text: str) -> tuple[Quantity, ...]:
    """Every number, date part and clock time of a text."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("_", " ")
    found: list[Quantity] = []
    for pattern, read in _lookout().on(plain):
        taken: list[tuple[int, int]] = []
        for match in pattern.finditer(plain):
            read_here = list(read(match))
            if read_here:
                found.extend(read_here)
                taken.append(match.span())
        plain = _blank(plain, taken)
    return tuple(found)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """The same text with what was read taken out, so that nothing is read twice."""
    for start, end in spans:
        text = text[:start] + "\x00" * (end - start) + text[end:]
    return text


def _any_unit() -> str:
    forms = sorted((form for forms in UNITS.values() for form in forms.split("|")), key=len, reverse=True)
    return f"(?:{'|'.join(forms)})(?![a-z])"


@cache
def _range() -> re.Pattern[str]:
    """What follows the first number of "60-75 °F"."""
    return re.compile(rf"\s?(?:[-–—~〜至到]|から|to|and|or)\s?\d[\d.,]*[\s-]?(?P<unit>{_any_unit()})")


@cache
def _lookout() -> Lookout:
    """What to look for, in this order."""
    return Lookout(
        [
            *_name_patterns(),
            *weekday_patterns(),
            *spoken_patterns(),
            *_date_patterns(),
            *character_patterns(),
            *clock_patterns(),
            *_number_patterns(),
        ]
    )


def _name_patterns() -> Iterator[Look]:
    address = r"https?://\S+|www\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}"
    yield Look("@ / .", address, _address, hint="@|/|www")
    date = r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>(?:19|20)\d\d)(?!\.?\w)"
    yield Look(DIGIT, date, _date, hint=r"\d\.\d")
    identifier = r"(?<![\w.])v?\d+(?:\.\d+){2,}|(?<![\d-])\+?\d{2,4}-\d{2,4}-\d{3,4}(?![\d-])"
    yield Look(DIGIT, identifier, _identifier, hint=r"\d[.-]\d")


def _date_patterns() -> Iterator[Look]:
    month = "|".join(name[:3] + f"(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
    named = " ".join(f"{name} {name[:3]}" for name in MONTHS)
    sure = [name for name in MONTHS if name not in ("may", "march")]  # those two are verbs as well
    date = r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"
    yield Look(DIGIT, date, _date, hint=r"\d[-/.]\d")
    yield Look("年", rf"(?P<era>{'|'.join(ERAS)})(?P<y>元|\d{{1,3}}|{KANJI}{{1,4}})年", _era_year)
    th = "(?:st|nd|rd|th)?"
    yield Look(named, rf"\b(?P<name>{month})\.?\s+(?P<d>\d{{1,2}}){th}\b(?!\d)", _named_month)
    yield Look(named, rf"\b(?P<d>\d{{1,2}}){th}(?:\s+of)?\s+(?P<name>{month})\b\.?", _named_month)
    yield Look(named, rf"\b(?P<name>{month})\.?,?\s+(?=\d{{4}}\b)", _named_month)
    yield Look(" ".join(sure), rf"\b(?P<name>{'|'.join(sure)})\b", _named_month)


def _number_patterns() -> Iterator[Look]:
    about = (
        r"(?P<about>(?:about|around|approximately|approx\.|nearly|almost|roughly|約|およそ|约|大约|近)\s*)?"
    )
    between = "calendar|consecutive|full|whole|complete|further|more|additional|extra|clear"
    written = rf"(?:(?:(?:{between})[\s-])?(?P<unit>{_any_unit()}))?"
    digits = r"(?:\d{1,3}(?:,\d{3}){1,6}(?!\d)|\d{1,18}(?!\d))(?:\.\d{1,18})?"
    grouped = r"\d{1,3}(?:,\d{3})+(?!\d)"
    number = rf"{digits}(?:{KANJI}{{1,9}}(?:{grouped}|\d{{1,18}})?){{0,6}}"
    scale = r"(?:\s?(?P<scale>thousand|million|billion|trillion|bn|k)\b)?(?:st|nd|rd|th)?"
    words = [*WORDS, *SCALES]
    word = "|".join(words)
    yield Look("twice thrice", r"\b(?:twice|thrice)\b", _times)
    yield Look("次 翌", "[次翌](?=[年月日天])", _next)
    yield from _compound_patterns()
    yield from _half_patterns(digits)
    begins = r"(?=[\d\s¥$€£anruお約约大近])"  # what follows may; it is slow to try everywhere
    version = r"(?<=v)(?<![a-z]v)|(?<=ver)(?<![a-z]ver)|(?<=ver\.)"
    alone = rf"(?:(?<![a-z\d.^])|{version})(?:(?<=under-)|(?<=over-)|(?<![a-z]-))"
    before = rf"{begins}{about}(?P<pre>us\$|[¥$€£])?\s?{alone}"
    figure = rf"{before}(?P<n>{number}){scale}(?P<more>[多余]?)[\s-]?{written}"
    yield Look(DIGIT, figure, _figure, hint="[0-9]")
    kanji = " ".join(KANJI.strip("[]"))
    yield Look(kanji, rf"{about}(?P<n>{KANJI}{{1,18}})(?P<more>[多余]?){written}", _kanji_figure)
    more = rf"(?:[\s-]+|(?<=d)\s+and\s+)(?:{word})"  # "hundred and five", but not "four and twelve"
    one = "(?:a (?=hundred|thousand|[mb]illion|trillion))?"
    spelt = rf"{about}\b(?P<n>{one}(?:{word})(?:{more})*)\b[\s-]?{written}"
    yield Look(" ".join(words), spelt, _word_figure)


def _compound_patterns() -> Iterator[Look]:
    n, m = rf"(?<![\d.,])(?P<n>\d{{1,3}}|{KANJI}{{1,3}})\s?", rf"(?P<m>\d{{1,2}}|{KANJI}{{1,3}})\s?"
    hours, minutes = "(?P<unit>hours?|hrs?|h|時間|[个個]?小[时時])", "(?:minutes?|mins?|分[钟鐘]?)"
    compound = rf"{n}{hours}\s?(?:and\s|と)?{m}{minutes}(?![a-z])"
    signs = "minutes minute mins min 分"
    yield Look(signs, compound, _hours_and_minutes, hint=r"時間|小时|小時|hour|hr|\dh|\d h")
    digit = rf"\d|{KANJI}"
    tenths = rf"块(?P<m>{digit})毛?|元(?P<jiao>{digit})角"
    yield Look("块 元", rf"(?P<n>\d{{1,5}}|{KANJI}{{1,6}})(?:{tenths})(?![\d个块])", _jiao)
    yield Look("角", rf"(?P<n>{digit})角(?P<m>{digit})分", _jiao_and_fen)
    yield Look("折", rf"打?(?P<n>{digit})[.点]?(?P<m>{digit})?折(?![叠扣页痕])", _discount)
    yield Look("quarter quarters", r"\b(?P<n>an?|three) quarters? of (?P<hour>an hour)?", _quarters)
    yield Look("度", r"(?<![\d.,])(?P<n>\d{1,2})度(?P<m>\d)分", _degrees)
    yield Look(
        "分", rf"(?<![\d.,])(?P<n>\d{{1,3}}|{KANJI}{{1,3}})分[の之](?P<m>\d{{1,3}}|{KANJI}{{1,3}})", _fraction
    )
    yield Look("割", rf"(?P<n>{digit})割(?![り合引れる高安])|(?P<off>{digit})割引", _tenths)


def _hours_and_minutes(match: re.Match[str]) -> Iterator[Quantity]:
    yield _quantity(kanji_value(match["n"]) * 60 + kanji_value(match["m"]), "minute", match[0])


def _degrees(match: re.Match[str]) -> Iterator[Quantity]:
    yield _quantity(Decimal(f"{match['n']}.{match['m']}"), "degree", match[0])


def _jiao(match: re.Match[str]) -> Iterator[Quantity]:
    """两块八, 二元八角: 2.80."""
    tenths = kanji_value(match["m"] or match["jiao"])
    yield _quantity(kanji_value(match["n"]) + tenths / 10, "cny", match[0])


def _jiao_and_fen(match: re.Match[str]) -> Iterator[Quantity]:
    """七角九分: 0.79."""
    yield _quantity(kanji_value(match["n"]) / 10 + kanji_value(match["m"]) / 100, "cny", match[0])


def _discount(match: re.Match[str]) -> Iterator[Quantity]:
    """九五折, 9.5折: 5 % off."""
    left = kanji_value(match["n"]) * 10 + kanji_value(match["m"] or "零")
    yield _quantity(100 - left, "%", match[0])


def _fraction(match: re.Match[str]) -> Iterator[Quantity]:
    """2分の1, 三分之二: a share of the whole."""
    whole = kanji_value(match["n"])
    if whole:
        share = (kanji_value(match["m"]) * 100 / whole).quantize(Decimal("0.0001"))
        yield _quantity(share, "%", match[0])


def _tenths(match: re.Match[str]) -> Iterator[Quantity]:
    """7割, 3割引."""
    yield _quantity(kanji_value(match["n"] or match["off"]) * 10, "%", match[0])


def _quarters(match: re.Match[str]) -> Iterator[Quantity]:
    """A quarter of the fare, three quarters of an hour."""
    parts = Decimal(3 if match["n"] == "three" else 1) / 4
    yield (
        _quantity(parts, "hour", match[0]) if match["hour"] else _quantity(parts * 100, "%", match[0].strip())
    )


def _half_patterns(digits: str) -> Iterator[Look]:
    spans = "hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)|dozen|minutes?|miles?"
    spans = f"{spans}|kilos?|lit(?:re|er)s?"
    counted = "時間|[个個]?小[时時]|か月|ヶ月|[个個]月|年|日|天"
    roughly = "(?P<about>(?:about|around|nearly|almost|roughly|just over|just under)\\s)?"
    and_a_half = rf"(?P<n>{digits}|{'|'.join(WORDS)}) and a half\s"
    yield Look("half", rf"{roughly}\b{and_a_half}(?P<unit>{spans})\b", _half)
    yield Look("half", rf"\bhalf[- ](?:an?[- ])?(?P<unit>{spans})\b", _half)
    yield Look("half", r"\bhalf (?:of|the|price)\b(?P<unit>)", _half)
    yield Look("半", rf"(?P<n>\d{{1,3}}|{KANJI}{{1,3}})(?P<unit>{counted})半", _half)
    yield Look("半", rf"(?P<n>\d{{1,3}}|{KANJI}{{1,3}})(?P<unit>[个個])半(?P<of>小[时時]|月)", _half)
    yield Look("半", r"半(?P<unit>年|日|天|时间|時間|[个個]?小[时時]|[个個]月)", _half)
    yield Look("半", r"(?:半額|半额|半分|半数|一半|减半|半价|半減)(?P<unit>)", _half)
    span = "minute|hour|day|week|month|year"
    within = rf"\b(?:for|within|after|than|lasts?|takes?|valid) an? (?P<unit>{span})\b"
    yield Look(span.replace("|", " "), within, _single, hint=f" an? (?:{span})")
    yield from one_patterns()


def _times(match: re.Match[str]) -> Iterator[Quantity]:
    yield Quantity({"twice": "2", "thrice": "3"}[match[0]], "time", match[0])


def _next(match: re.Match[str]) -> Iterator[Quantity]:
    """次年 is 第二年; by itself it claims no number."""
    yield Quantity("2", "order", match[0], is_label=True)


def _address(match: re.Match[str]) -> Iterator[Quantity]:
    yield Quantity(match[0].rstrip(".,)"), "address", match[0])


def _identifier(match: re.Match[str]) -> Iterator[Quantity]:
    """A version or a telephone number: right or wrong as a whole."""
    yield Quantity(match[0].lstrip("v"), "identifier", match[0])


def _date(match: re.Match[str]) -> Iterator[Quantity]:
    if 1 <= int(match["m"]) <= 12 and 1 <= int(match["d"]) <= 31:
        yield Quantity(match["y"], "year#", match[0])
        yield Quantity(str(int(match["m"])), "month#", match[0])
        yield Quantity(str(int(match["d"])), "day", match[0])


def _era_year(match: re.Match[str]) -> Iterator[Quantity]:
    year = 1 if match["y"] == "元" else int(kanji_value(match["y"]))
    yield Quantity(str(ERAS[match["era"]] + year), "year#", match[0])


def _named_month(match: re.Match[str]) -> Iterator[Quantity]:
    number = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(match["name"][:3]))
    yield Quantity(str(number), "month#", match["name"])
    if "d" in match.re.groupindex:
        yield Quantity(str(int(match["d"])), "day", match[0])


def _with_zeros(written: str) -> str:
    """1万6 is 1万6千."""
    if SHORT_OF_ZEROS.fullmatch(written):
        return written + "十百千"["百千万".index(written[-2])]
    return written


def _figure(match: re.Match[str]) -> Iterator[Quantity]:
    value = kanji_value(_with_zeros(match["n"]))
    if match["scale"]:
        value *= {"bn": 10**9, "k": 1000}.get(match["scale"]) or SCALES[match["scale"]]
    name = PREFIX_UNITS.get(match["pre"] or "") or unit(match["unit"])
    if not name and (of_range := _range().match(match.string, match.end())):
        name = unit(of_range["unit"])
    if name == "year" and 1000 <= value < 2200:
        name = "year#"
    before = match.string[max(0, match.start() - LABEL_REACH) : match.start()]
    label = not name and bool(LABEL.search(before))
    yield _quantity(value, name, match[0].strip(), about=bool(match["about"] or match["more"]), label=label)


def _kanji_figure(match: re.Match[str]) -> Iterator[Quantity]:
    """Kanji numerals count where a counter follows or several stand together: 一般 is no number."""
    n, name = match["n"], unit(match["unit"])
    surroundings = match.string[match.start() : match.end() + 2]
    if match.string[max(0, match.start() - 1) : match.start()] == "第":
        yield Quantity(plain(kanji_value(n)), "order", match[0])
        return
    if surroundings.startswith(NOT_NUMBERS) or n in ("万", "千", "百", "兆", "十万", "一一"):
        return
    if not name:
        n = _with_zeros(n)
    if name or len(n) >= 3:
        year = name == "year" and len(n) == 4 and not set(n) & {*SMALL, *LARGE}
        about = bool(match["about"] or match["more"])
        yield _quantity(kanji_value(n), "year#" if year else name, match[0], about=about)


def _word_figure(match: re.Match[str]) -> Iterator[Quantity]:
    """ "one" alone is mostly a pronoun and "hundred" alone no figure, so both are left out."""
    total = word_value(re.split(r"[\s-]+", match["n"]))
    name = unit(match["unit"])
    if match["n"] in ("zero", *SCALES) or (match["n"] == "one" and name not in MEASURES):
        return
    before = match.string[max(0, match.start() - LABEL_REACH) : match.start()]
    label = not name and (bool(LABEL.search(before)) or bool(SUMMED_UP.search(before)))
    yield _quantity(Decimal(total), name, match[0].strip(), about=bool(match["about"]), label=label)


def _half(match: re.Match[str]) -> Iterator[Quantity]:
    """Half an hour, 半年, 1時間半; 半額 and "half of" are 50 %."""
    groups = match.groupdict()
    name = unit(match["unit"] + groups.get("of", ""))
    if not name:
        yield Quantity("50", "%", match[0].strip())
        return
    whole = groups.get("n", "")
    value = (Decimal(WORDS[whole]) if whole in WORDS else kanji_value(whole)) + Decimal("0.5")
    yield _quantity(value, name, match[0].strip(), about=bool(groups.get("about")))


def _single(match: re.Match[str]) -> Iterator[Quantity]:
    """ "within a year", "every hour": one of a unit of time."""
    yield _quantity(Decimal(1), unit(match["unit"]), match[0].strip())


def _quantity(value: Decimal, name: str, text: str, *, about: bool = False, label: bool = False) -> Quantity:
    compared, smaller = converted(value, name)
    written = plain(value) if smaller != name else ""
    return Quantity(plain(compared), smaller, text, about, written, label)
