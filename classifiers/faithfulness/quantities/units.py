"""Units of measure in English, Japanese and Chinese: their spellings, and what they are in others."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache, lru_cache

__all__ = ["DAY_MINUTES", "EXACT", "PREFIX_UNITS", "UNITS", "compatible", "converted", "is_unit", "unit"]

UNITS: dict[str, str] = {
    "%": "%|percent|per cent|パーセント",
    "jpy": "円|yen|jpy|日元",
    "usd": "ドル|美元|us dollars?|dollars?|usd",
    "eur": "ユーロ|欧元|euros?|eur",
    "gbp": "ポンド|英镑|pounds?|gbp",
    "cny": "元|[块塊][钱錢]?|人民[币幣]|yuan|rmb|cny",
    "jiao": "角(?![形度])",
    "cent": "cents?|pence|p|セント|美分|欧分",
    "second": "秒間?|秒[钟鐘]|seconds?|secs?",
    "minute": "分間?|分[钟鐘]|minutes?|mins?",
    "hour": "時間|[个個]?小[时時]|hours?|hrs?|h(?![0-9])",
    "day": "日間?|天|[号號]|days?",
    "workday": "営業日|[个個]?工作[日天]|working days?|business days?",
    "week": "週間|周|週|[个個]?星期|weeks?",
    "fortnight": "fortnights?",
    "month": "[かヶケカヵ箇]月間?|个月|個月|months?",
    "month#": "月",
    "year": "年間?|years?|yrs?",
    "age": "歳|才|[周週]?[岁歲]|years?[ -]olds?",
    "decade": "decades?",
    "century": "世紀|世纪|century|centuries",
    "person": "人|名|people|persons?|employees|members",
    "time": "回|次|遍|轮(?![车胎椅班流换渡])|针(?![对织灸筒剂管])|times",
    "kilo": "キロ",
    "kg": "キログラム|公斤|千克|kg|kilograms?|kilos?",
    "ton": "トン|吨|tonnes?|tons?",
    "g": "グラム|克|grams?|g",
    "km": "キロメートル|公里|千米|km|kilometers?|kilometres?",
    "cm": "センチメートル|センチ|厘米|cm|centimeters?|centimetres?",
    "mm": "ミリメートル|ミリ|毫米|mm|millimeters?|millimetres?",
    "m": "メートル|米|m|meters?|metres?",
    "mile": "マイル|英里|miles?",
    "l": "リットル|升|liters?|litres?|l",
    "ml": "ミリリットル|毫升|ml",
    "c": "°c|℃|摄氏度|degrees celsius",
    "degree": "°|度|degrees",
    "f": "°f|degrees fahrenheit",
    "mb": "mb|メガバイト|megabytes?",
    "gb": "gb|ギガバイト|gigabytes?",
    "tb": "tb|テラバイト|terabytes?",
    "dozen": "dozen",
    "item": "個|個所|件|冊|枚|台|本|個|个|[张張]|本|items?|pieces?|copies",
    "count": "つ|点|种|種類?|通り|[项項]|ways?|steps?|types?|kinds?|reasons?|methods?|factors?|categories"
    "|options|points|things|parts",
    "floor": "階|[层層]|[楼樓]|floors?",
    "page": "ページ|頁|页|pages?",
    "night": "泊|晚|nights?",
    "tablet": "錠|片|粒|tablets?|pills?|capsules?",
    "box": "箱|盒|boxes|box",
    "bag": "袋|bags?",
    "bottle": "瓶|bottles?",
    "cup": "杯|cups?",
    "credit": "単位|学分|學分|credits?",
    "meal": "食|餐|meals?",
    "drop": "滴",
    "article": "|".join(  # what counts things of one sort, and what it is no counter before: 三支行, 满99包邮
        [
            "支(?![付持出店社部所流援給払配撑行架])",
            "包(?![括含邮郵装裝裹间間厢房容囲期政服凭规责])",
            "份",
            "间(?![隔接距歇])",
            "只(?![能可有要是需会限在用接对收允看剩提适])",
            "门(?![诊口票店卫禁锁铃窗峡])",
            "格(?![式外局付安上下段])",
            "双(?![休方向倍节節人床十1])",
            "針(?![灸金路葉])",
            "膳|皿|切れ",
            "足(?![りらる以够球额])",
            "通(?![りじ常信知学勤話院帳販過行路用关道过八])",
            "羽(?![根田織])",
            "束(?![缚縛手])",
            "組(?![織み合立])",
            "巻(?!き)",
        ]
    ),
}
# Of one unit so many make one of the other: two weeks are 14 days, 90 seconds a minute and a half.
CONVERSIONS: dict[str, tuple[int, int, str]] = {
    "cent": (1, 100, ""),
    "jiao": (1, 10, "cny"),
    "second": (1, 60, "minute"),
    "hour": (60, 1, "minute"),
    "week": (7, 1, "day"),
    "fortnight": (14, 1, "day"),
    "year": (12, 1, "month"),
    "decade": (120, 1, "month"),
    "dozen": (12, 1, ""),
    "km": (1000, 1, "m"),
    "cm": (1, 100, "m"),
    "mm": (1, 1000, "m"),
    "kg": (1000, 1, "g"),
    "kilo": (1000, 1, "g or m"),
    "ton": (1_000_000, 1, "g"),
    "ml": (1, 1000, "l"),
    "gb": (1000, 1, "mb"),
    "tb": (1_000_000, 1, "mb"),
}
DAY_MINUTES = 1440
MOST_REMEMBERED = 1_024  # spellings; `is_unit` is asked about other words as well
EXACT = {"address", "identifier", "clock", "weekday"}  # right or wrong as a whole
PREFIX_UNITS = {"¥": "jpy", "$": "usd", "€": "eur", "£": "gbp", "us$": "usd"}
LOOSE = (
    {"day", "time"},
    {"person", "item"},
    {"item", "time"},
    {"item", "count"},
    {"order", "time"},
    {"degree", "c"},
    {"degree", "f"},
    {"g or m", "g"},
    {"g or m", "m"},
    *({"item", counted} for counted in ("tablet", "box", "bag", "bottle", "cup", "meal", "drop")),
    *({"article", counted} for counted in ("item", "count", "tablet", "box", "bag", "bottle", "person")),
    {"night", "day"},
)


def compatible(one: str, other: str) -> bool:
    """Whether the same number may stand with either unit; one that was not written fits any."""
    if EXACT & {one, other}:
        return one == other
    return one == other or not one or not other or {one, other} in LOOSE


def converted(value: Decimal, name: str) -> tuple[Decimal, str]:
    """An amount in the unit that amounts of its kind are compared in."""
    if name not in CONVERSIONS:
        return value, name
    times, parts, smaller = CONVERSIONS[name]
    return value * times / parts, smaller


@lru_cache(MOST_REMEMBERED)
def unit(written: str | None) -> str:
    """The name of a unit as it was written, "" if it is none."""
    if not written:
        return ""
    return next((name for name, pattern in _patterns() if pattern.fullmatch(written)), "")


def is_unit(word: str) -> bool:
    """Whether a word is only a unit."""
    return bool(unit(word))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(forms)) for name, forms in UNITS.items())
