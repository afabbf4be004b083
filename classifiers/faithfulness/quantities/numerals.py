"""Numbers as they are written in words and kanji, and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

__all__ = ["KANJI", "LARGE", "SCALES", "SMALL", "WORDS", "kanji_value", "word_value"]

KANJI = "[〇零一二三四五六七八九十百千万萬億亿兆两兩]"
DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2, "両": 2}
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


def kanji_value(written: str) -> Decimal:
    """The value of "3.5万", "1億2000万", "千二百", "二〇二四" or "1,200"."""
    if written.isdecimal():
        return Decimal(written)
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


def word_value(words: Iterable[str]) -> int:
    """The value of "three hundred and five", word by word."""
    total = current = 0
    for word in words:
        if word in WORDS:
            current += WORDS[word]
        elif word in SCALES and SCALES[word] == 100:
            current = max(current, 1) * 100
        elif word in SCALES:
            total, current = total + max(current, 1) * SCALES[word], 0
    return total + current
