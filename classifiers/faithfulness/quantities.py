"""Numbers, dates, clock times and units, in one canonical form for English, Japanese and Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Literal

__all__ = ["Quantity", "QuantityPool", "is_unit", "quantities"]

ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民国": 1911}
UNITS: dict[str, str] = {
    "%": "%|percent|per cent|パーセント",
    "jpy": "円|yen|jpy|日元",
    "usd": "ドル|美元|us dollars?|dollars?|usd",
    "eur": "ユーロ|欧元|euros?|eur",
    "gbp": "ポンド|英镑|pounds?|gbp",
    "cny": "元|人民币|yuan|rmb|cny",
    "second": "秒間?|秒钟|seconds?|secs?",
    "minute": "分間?|分钟|minutes?|mins?",
    "hour": "時間|小时|小時|个小时|hours?|hrs?",
    "day": "日間?|天|号|days?",
    "week": "週間|周|週|个星期|星期|weeks?",
    "month": "[かヶケカヵ箇]月間?|个月|個月|months?",
    "month#": "月",
    "year": "年間?|years?|yrs?",
    "age": "歳|才|岁|years?[ -]olds?",
    "century": "世紀|世纪|century|centuries",
    "person": "人|名|people|persons?|employees|members",
    "time": "回|次|times",
    "kg": "キログラム|公斤|千克|kg|kilograms?",
    "g": "グラム|克|grams?|g",
    "km": "キロメートル|公里|千米|km|kilometers?|kilometres?",
    "cm": "センチメートル|センチ|厘米|cm|centimeters?|centimetres?",
    "mm": "ミリメートル|ミリ|毫米|mm|millimeters?|millimetres?",
    "m": "メートル|米|m|meters?|metres?",
    "mile": "マイル|英里|miles?",
    "l": "リットル|升|liters?|litres?|l",
    "ml": "ミリリットル|毫升|ml",
    "c": "°c|℃|摄氏度|度|degrees celsius|degrees",
    "f": "°f|degrees fahrenheit",
    "mb": "mb|メガバイト|megabytes?",
    "gb": "gb|ギガバイト|gigabytes?",
    "tb": "tb|テラバイト|terabytes?",
    "item": "個|個所|件|冊|枚|台|本|個|个|张|本|items?|pieces?|copies",
    "count": "つ|点|种|種類?|通り|项|ways?|steps?|types?|kinds?|reasons?|methods?|factors?|categories|options"
    "|points|things|parts",
    "floor": "階|层|楼|floors?",
    "page": "ページ|頁|页|pages?",
}
CONVERSIONS = {"week": (7, "day"), "year": (12, "month"), "hour": (60, "minute"), "km": (1000, "m")}
PREFIX_UNITS = {"¥": "jpy", "$": "usd", "€": "eur", "£": "gbp", "us$": "usd"}
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
KANJI = "[〇零一二三四五六七八九十百千万萬億亿兆两]"
DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "両": 2}
SMALL = {"十": 10, "百": 100, "千": 1000}
LARGE = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
WORDS = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    w: 10 * i
    for i, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
EXACT = {"address", "identifier", "clock"}  # right or wrong as a whole
APPROXIMATION = 0.05  # "about 5,000" may stand for 5,021
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
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number with its unit: "1,200円", "千二百円" and "¥1200" are equal but for their text."""

    value: str  # decimal without exponent or trailing zeros; clock times in minutes
    unit: str  # canonical, "" if none was written
    text: str  # as written, after NFKC
    approximate: bool = False

    @property
    def is_count(self) -> bool:
        """Whether it may only count what is listed, or be no number: "three ways", 2つの団体, 一日."""
        return self.text.startswith("一") or (self.unit == "count" and float(self.value) <= 12)


class QuantityPool:
    """The quantities of a passage, to be asked whether another text's quantity is among them."""

    def __init__(self, found: Iterable[Quantity]) -> None:
        self._units: dict[str, set[str]] = {}
        for each in found:
            self._units.setdefault(each.value, set()).add(each.unit)

    def find(self, wanted: Quantity) -> Literal["same", "other unit", "new"]:
        """Whether the value stands here, and with a unit that can be the same."""
        units = self._units.get(wanted.value, set())
        if wanted.unit == "clock":  # "at 5" may be 17:00; morning and afternoon are told apart by their words
            units = units | self._units.get(str((int(wanted.value) + 720) % 1440), set()) & {"clock"}
        if any(_compatible(unit, wanted.unit) for unit in units):
            return "same"
        if wanted.approximate and self._near(wanted):
            return "same"
        return "other unit" if units else "new"

    def _near(self, wanted: Quantity) -> bool:
        value = float(wanted.value)
        return any(
            abs(float(other) - value) <= APPROXIMATION * abs(value)
            for other, units in self._units.items()
            if any(_compatible(unit, wanted.unit) for unit in units - EXACT)
        )


def quantities(text: str) -> tuple[Quantity, ...]:
    """Every number, date part and clock time of a text."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("_", " ")
    found: list[Quantity] = []
    for pattern, read, hint in _readers():
        if not hint.search(plain):
            continue
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


def _compatible(one: str, other: str) -> bool:
    loose = ({"day", "time"}, {"person", "item"}, {"item", "time"}, {"item", "count"})
    if EXACT & {one, other}:
        return one == other
    return one == other or not one or not other or {one, other} in loose


Reader = Callable[[re.Match[str]], Iterator[Quantity]]


@cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader, re.Pattern[str]], ...]:
    """What to look for, in this order, and the sign without which it need not be looked for."""
    patterns = (*_name_patterns(), *_date_patterns(), *_clock_patterns(), *_number_patterns())
    return tuple((re.compile(pattern), reader, re.compile(hint)) for hint, pattern, reader in patterns)


def _name_patterns() -> Iterator[tuple[str, str, Reader]]:
    yield "[@/]|www", r"https?://\S+|www\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}", _address
    yield "[0-9]", r"(?<![\w.])v?\d+(?:\.\d+){2,}|(?<![\d-])\+?\d{2,4}-\d{2,4}-\d{3,4}(?![\d-])", _identifier


def _date_patterns() -> Iterator[tuple[str, str, Reader]]:
    month = "|".join(name[:3] + f"(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
    sure = "|".join(name for name in MONTHS if name not in ("may", "march"))  # those two are verbs as well
    yield "[0-9]", r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)", _date
    yield "年", rf"(?P<era>{'|'.join(ERAS)})(?P<y>元|\d{{1,3}}|{KANJI}{{1,4}})年", _era_year
    yield "[0-9]", rf"\b(?P<name>{month})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)", _named_month
    yield "[0-9]", rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<name>{month})\b\.?", _named_month
    yield "[0-9]", rf"\b(?P<name>{month})\.?,?\s+(?=\d{{4}}\b)", _named_month
    yield "[a-z]{4}", rf"\b(?P<name>{sure})\b", _named_month


def _clock_patterns() -> Iterator[tuple[str, str, Reader]]:
    half = "(?P<half>午前|午後|上午|下午|晚上)?"
    oclock = r"(?:時(?!間)|点(?=半|钟|整|\d|[至到])|(?<=[午上]\d)点)"
    yield "[0-9]", r"(?<![\d:])(?P<h>\d{1,2})(?::(?P<m>\d{2}))?\s?(?P<half>[ap])\.?m\b\.?", _clock
    yield "[0-9]:", r"(?<![\d:])(?P<h>\d{1,2}):(?P<m>\d{2})(?![\d:])", _clock
    yield "[時点]", rf"{half}(?P<h>\d{{1,2}}|{KANJI}{{1,3}}){oclock}(?P<m>半|\d{{1,2}}分)?", _clock


def _number_patterns() -> Iterator[tuple[str, str, Reader]]:
    about = (
        r"(?P<about>(?:about|around|approximately|approx\.|nearly|almost|roughly|約|およそ|约|大约|近)\s*)?"
    )
    forms = sorted((form for unit in UNITS.values() for form in unit.split("|")), key=len, reverse=True)
    unit = f"(?P<unit>(?:{'|'.join(forms)})(?![a-z]))?"
    digits = r"(?:\d{1,3}(?:,\d{3}){1,6}(?!\d)|\d{1,18}(?!\d))(?:\.\d{1,18})?"
    number = rf"{digits}(?:{KANJI}{{1,9}}(?:\d{{1,18}})?){{0,6}}"
    scale = r"(?:\s?(?P<scale>thousand|million|billion|trillion|bn|k)\b)?(?:st|nd|rd|th)?"
    word = "|".join([*WORDS, *SCALES])
    yield "ice", r"\b(?:twice|thrice)\b", _times
    yield (
        "[0-9]",
        rf"{about}(?P<pre>us\$|[¥$€£])?\s?(?<![a-z\d.^])(?<![a-z]-)(?P<n>{number}){scale}(?P<more>[多余]?)"
        rf"[\s-]?{unit}",
        _figure,
    )
    yield KANJI, rf"{about}(?P<n>{KANJI}{{1,18}})(?P<more>[多余]?){unit}", _kanji_figure
    yield word, rf"{about}\b(?P<n>(?:{word})(?:(?:\s+and)?[\s-]+(?:{word}))*)\b[\s-]?{unit}", _word_figure


def _times(match: re.Match[str]) -> Iterator[Quantity]:
    yield Quantity({"twice": "2", "thrice": "3"}[match[0]], "time", match[0])


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
    year = 1 if match["y"] == "元" else int(_kanji_value(match["y"]))
    yield Quantity(str(ERAS[match["era"]] + year), "year#", match[0])


def _named_month(match: re.Match[str]) -> Iterator[Quantity]:
    number = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(match["name"][:3]))
    yield Quantity(str(number), "month#", match["name"])
    if "d" in match.re.groupindex:
        yield Quantity(str(int(match["d"])), "day", match[0])


def _clock(match: re.Match[str]) -> Iterator[Quantity]:
    hour, minutes = int(_kanji_value(match["h"])), match["m"] or "0"
    minute = 30 if minutes == "半" else int(minutes.rstrip("分"))
    half = match["half"] if "half" in match.re.groupindex else None
    if half in ("p", "午後", "下午", "晚上") and hour < 12:
        hour += 12
    if half in ("a", "午前", "上午") and hour == 12:
        hour = 0
    if hour <= 24 and minute < 60:
        yield Quantity(str((hour * 60 + minute) % 1440), "clock", match[0])


def _figure(match: re.Match[str]) -> Iterator[Quantity]:
    value = _kanji_value(match["n"])
    if match["scale"]:
        value *= {"bn": 10**9, "k": 1000}.get(match["scale"]) or SCALES[match["scale"]]
    unit = PREFIX_UNITS.get(match["pre"] or "") or _unit(match["unit"])
    if unit == "year" and 1000 <= value < 2200:
        unit = "year#"
    yield _converted(value, unit, match[0].strip(), bool(match["about"] or match["more"]))


def _kanji_figure(match: re.Match[str]) -> Iterator[Quantity]:
    """Kanji numerals count where a counter follows or several stand together: 一般 is no number."""
    n, unit = match["n"], _unit(match["unit"])
    surroundings = match.string[match.start() : match.end() + 2]
    if surroundings.startswith(NOT_NUMBERS) or n in ("万", "千", "百", "兆", "十万", "一一"):
        return
    if unit or len(n) >= 3:
        year = unit == "year" and len(n) == 4 and not set(n) & {*SMALL, *LARGE}
        value = _kanji_value(n)
        yield _converted(value, "year#" if year else unit, match[0], bool(match["about"] or match["more"]))


def _word_figure(match: re.Match[str]) -> Iterator[Quantity]:
    """ "one" alone is mostly a pronoun and "hundred" alone no figure, so both are left out."""
    total = current = 0
    for word in re.split(r"[\s-]+", match["n"]):
        if word in WORDS:
            current += WORDS[word]
        elif word in SCALES and SCALES[word] == 100:
            current = max(current, 1) * 100
        elif word in SCALES:
            total, current = total + max(current, 1) * SCALES[word], 0
    if match["n"] not in ("one", "zero", *SCALES):
        yield _converted(
            Decimal(total + current), _unit(match["unit"]), match[0].strip(), bool(match["about"])
        )


def _converted(value: Decimal, unit: str, text: str, approximate: bool) -> Quantity:
    """Two weeks are 14 days, and a year is 12 months."""
    factor, smaller = CONVERSIONS.get(unit, (1, unit))
    return Quantity(_plain(value * factor), smaller, text, approximate)


@cache
def _unit_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(forms)) for name, forms in UNITS.items())


def _unit(written: str | None) -> str:
    if not written:
        return ""
    return next((name for name, pattern in _unit_patterns() if pattern.fullmatch(written)), "")


def is_unit(word: str) -> bool:
    """Whether a word is only a unit."""
    return bool(_unit(word))


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _kanji_value(written: str) -> Decimal:
    """The value of "3.5万", "1億2000万", "千二百", "二〇二四" or "1,200"."""
    total = section = Decimal(0)
    current: Decimal | None = None
    for token in re.findall(r"\d[\d,]*(?:\.\d+)?|.", written):
        if token in SMALL:
            section += (1 if current is None else current) * SMALL[token]
            current = None
        elif token in LARGE:
            total += (section + (current or 0) or 1) * LARGE[token]
            section, current = Decimal(0), None
        elif token in DIGITS:
            current = (current or 0) * 10 + Decimal(DIGITS[token])
        else:
            current = Decimal(token.replace(",", ""))
    return total + section + (current or 0)
