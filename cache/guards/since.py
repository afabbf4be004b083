"""How long after something, or how long until it: 停机后多久恢复 is not 多久会停机."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cache.reading.words import Text

__all__ = ["turned_round"]

_HOW_LONG = {
    "zh": "(?:多久|多长时间|几天|多少天|几个?小时|什么时候|啥时候|何时)",
    "ja": "(?:どのくらい|どれくらい|何日|何時間|いつ)",
}
# What a span is counted from, and what it is counted to; in Chinese two characters name the event.
_FROM = {
    "zh": re.compile(rf"([\u3400-\u9fff]{{2}})(?:之后|以后|后|完)[^,，。?？!！]{{0,6}}?{_HOW_LONG['zh']}"),
    "ja": re.compile(
        r"([\u3400-\u9fffァ-ヺー]{2,})(?:の?後|し(?:てから|た後)|されて(?:から)?)[^、。?？]{0,4}?"
        + _HOW_LONG["ja"]
    ),
}
_TO = {
    "zh": re.compile(
        _HOW_LONG["zh"] + r"(?:之?内|之?后|以后|才|就|会|能|要|被|可以|自动|给)*([\u3400-\u9fff]{2})"
    ),
    "ja": re.compile(_HOW_LONG["ja"] + r"(?:経つと|たつと|で|に|ごろ|頃)*([\u3400-\u9fffァ-ヺー]{2,})"),
}


def turned_round(asked: Text, nearest: Text, stored: Sequence[Text]) -> str:
    """The event from which a question counts and up to which the entry does, or the other way round.

    "" if there is none, or if another phrasing of the entry counts as the question does.
    """
    since, until = _events(asked)
    if not since | until:
        return ""
    entrys_since, entrys_until = _events(nearest)
    turned = (since - until) & (entrys_until - entrys_since) | (until - since) & (entrys_since - entrys_until)
    if turned and not any(since & also or until & up_to for also, up_to in map(_events, stored)):
        return f"how long after “{min(turned)}”, and how long until it"
    return ""


def _events(text: Text) -> tuple[frozenset[str], frozenset[str]]:
    """What spans are counted from in a text, and what they are counted to."""
    if text.language not in _FROM:
        return frozenset(), frozenset()
    return (
        frozenset(_FROM[text.language].findall(text.written)),
        frozenset(_TO[text.language].findall(text.written)),
    )
