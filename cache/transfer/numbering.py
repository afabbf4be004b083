"""Numbers and marks before the questions of a sheet, which nobody who asks them types: "①", "Q1.", "問5"."""

from __future__ import annotations

import re

__all__ = ["split_number"]

_NUMBER = r"\d{1,3}(?:[-－.]\d{1,3})*"  # 3, and 1-2 of a chapter
_ASKED = r"(?:q|ｑ|問|问|質問|问题|問題|question)"
_COUNTED = rf"(?:{_ASKED}[.．]?\s?(?:no[.．]?\s?)?{_NUMBER}|第{_NUMBER}[問问])"
_STOP = r"(?:\s?(?:[:：)）、．]|[.,](?=\s|[^\x00-\x7f]))|\s(?-i:(?![a-z])))"  # "Q3 earnings" goes on
_PLACE = r"(?![のとを欄]|から|まで)"  # on a form: "①の欄", "(1)から(3)"
_MARKS = [
    re.compile(one, re.IGNORECASE)
    for one in (
        rf"[①-⒛⓪⓫-⓾❶-➓㉑-㉟㊱-㊿][.．、)）:：]?{_PLACE}",
        rf"[(（\[［【〔](?:{_COUNTED}|{_ASKED}|{_NUMBER})[)）\]］】〕][.．、:：]?{_PLACE}",
        rf"{_COUNTED}{_STOP}",
        rf"[qｑ問问]{_STOP}|{_ASKED}\s?[:：]",
        rf"{_NUMBER}(?:[)）]|[．、](?!\d)|\.(?=\s|[^\x00-\x7f\d]))",
    )
]


def split_number(text: str) -> tuple[str, str]:
    """What stands before a question, and the question; nothing and the text where no letter would be left.

    "5歳児の健診", "3月の…" and "1.5倍" begin with numbers of their own: no stop is behind them.
    """
    for mark in _MARKS:
        if found := mark.match(text):
            left = text[found.end() :].strip()
            return (found[0].strip(), left) if any(each.isalpha() for each in left) else ("", text)
    return "", text
