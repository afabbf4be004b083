"""One spelling of words that have several, as Japanese ones do: ゴミ is ごみ, 問合せ is 問い合わせ.

Whatever compares texts reads both of them so. The words stand in spelling.yaml. No dictionary is asked: what
Sudachi normalises to is often rarer than what people write, and encoders know rare spellings least.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final
from unicodedata import normalize

import yaml

from languages.scripts import EAST_ASIAN, HAN, HIRAGANA, KATAKANA

__all__ = ["one_spelling", "spelling_digest"]

_EAST_ASIAN: Final = re.compile(f"[{EAST_ASIAN}]")
_KANJI: Final = re.compile(f"[{HAN}]")
_HIRAGANA: Final = re.compile(f"[{HIRAGANA}]+")
_KATAKANA: Final = re.compile(f"[{KATAKANA}]")
# Where a word begins and ends: イス is not part of アイス, nor はんこ of はんこう; 引越の, but not 引越す.
_ANYWHERE: Final = re.compile("")
_BEFORE: Final = {
    "hiragana": re.compile(f"(?<![{HIRAGANA}])|(?<=[のをにでとはがもやへて])"),
    "katakana": re.compile(f"(?<![{KATAKANA}])"),
}
_AFTER: Final = {
    "hiragana": re.compile(f"(?![{HIRAGANA}ー])|(?=[のをにでとはがもやへかださしすなら])"),
    "katakana": re.compile(f"(?![{KATAKANA}])"),
    "kanji": re.compile(f"(?![{HIRAGANA}])|(?=[のをにでとはがやへかださし]|する|も(?!う))"),
}


def one_spelling(text: str) -> str:
    """A text in NFKC; if it is Japanese or Chinese, with each word in the first spelling of its row."""
    if text.isascii():
        return text
    plain = normalize("NFKC", text)
    return _spellings().fold(plain) if _EAST_ASIAN.search(plain) else plain


@cache
def spelling_digest() -> str:
    """sha256 of the words. An index that was made with other ones is made anew; a model stays what it is."""
    return sha256(_table().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Spellings:
    """What each spelling is read as, and where one may stand."""

    first: Mapping[str, str]
    any: re.Pattern[str]

    def fold(self, text: str) -> str:
        """The text with the first spelling for each other one."""
        return self.any.sub(self._chosen, text)

    def _chosen(self, found: re.Match[str]) -> str:
        word, text = found[0], found.string
        first = self.first[word]
        before = _BEFORE.get(_script(word, word[0]), _ANYWHERE)
        # 受け付け ends as 受付 does, which it is read as: 受け付けます stays.
        end = first[-1] if _HIRAGANA.match(word[-1]) else word[-1]
        after = _AFTER.get(_script(word, end), _ANYWHERE)
        return first if before.match(text, found.start()) and after.match(text, found.end()) else word


def _script(word: str, edge: str) -> str:
    """What says where a word begins or ends; "" for the kana of 申込み and for Latin letters."""
    if _HIRAGANA.fullmatch(word):
        return "hiragana"
    if _KATAKANA.match(edge):
        return "katakana"
    return "kanji" if _KANJI.match(edge) else ""


@cache
def _spellings() -> _Spellings:
    first = {variant: row[0] for row in yaml.safe_load(_table()) for variant in row}
    endings = defaultdict[str, list[str]](list)
    for variant in sorted(first, key=len, reverse=True):
        endings[variant[0]].append(re.escape(variant[1:]))
    # By first characters, which the search skips quickly; of several the longest.
    branches = (f"{re.escape(start)}(?:{'|'.join(rest)})" for start, rest in endings.items())
    return _Spellings(first, re.compile("|".join(branches)))


@cache
def _table() -> str:
    return files("languages").joinpath("spelling.yaml").read_text(encoding="utf-8")
