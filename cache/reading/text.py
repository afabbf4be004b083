"""One spelling per question: what the exact tier compares, and the pieces that matching counts.

Two texts share a key only if a reader would call them the same question. Whatever may
change the meaning stays: digits, decimals, minus, percent, currency, `C#` and `C++`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from languages.remembering import remembered, text_key
from languages.scripts import EAST_ASIAN, INVISIBLE

__all__ = [
    "Grams",
    "Pieces",
    "character_grams",
    "exact_key",
    "is_cjk",
    "normalise",
    "pieces",
    "words",
]

Grams = frozenset[str]


class Pieces(NamedTuple):
    """A normalised text and its character n-grams."""

    normalised: str
    grams: Grams


_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_DASHES = re.compile(r"[\u2010-\u2015\u2212\u2500\u2501\ufe58\ufe63\uff0d]")
_KANA_DASH = re.compile(r"(?<=[\u30a1-\u30fa\u30fc])-(?=[\u3041-\u30ff\u4e00-\u9fff]|[^\w-]|$)")
_LAST_LONG_VOWEL = re.compile(
    r"(?<=[\u30a1-\u30fa\u30fc]{3})\u30fc(?![\u30a1-\u30fa\u30fc])"
)  # サーバー, サーバ
_APOSTROPHES = re.compile(r"[\u2018\u2019\u02bc\u2032\u0060\u00b4]")
_WAVES = re.compile(r"[\u301c\u223c\u223d]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CJK_CHARACTER = re.compile(f"[{EAST_ASIAN}]")
_SPACE_BESIDE_CJK = re.compile(f"(?<=[{EAST_ASIAN}]) | (?=[{EAST_ASIAN}])")
_ALWAYS_KEPT = frozenset("%‰&")
_WORD = re.compile(rf"[^\s{EAST_ASIAN}]+|[{EAST_ASIAN}]+")
_MARK = re.compile(r"[^\w\s]|_")
_RUN = re.compile(r"([^\W_]?)([+#^_])\2+")


@remembered(4_096)  # a batch of an import asks for each of its phrasings six times
def normalise(text: str) -> str:
    """The text without what a reader ignores: width, case, punctuation, spacing, invisible characters."""
    text = _SUPERSCRIPT.sub(lambda found: "^" + found.group(), text)
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _DASHES.sub("-", text)))
    text = unicodedata.normalize("NFKC", text.casefold())
    text = _APOSTROPHES.sub("'", _WAVES.sub("~", _DASHES.sub("-", text)))
    text = _LAST_LONG_VOWEL.sub("", _THOUSANDS.sub("", _KANA_DASH.sub("ー", text)))
    kept = _MARK.sub(_kept, _RUN.sub(_run_kept, text))
    return _SPACE_BESIDE_CJK.sub("", " ".join(kept.split()))


def exact_key(normalised: str) -> bytes:
    """A short key of a normalised text; two texts with one key are compared in full."""
    return text_key(normalised)


def is_cjk(text: str) -> bool:
    """Whether the text is written mostly in Chinese or Japanese characters."""
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and 2 * len(_CJK_CHARACTER.findall(text)) >= letters


def words(normalised: str) -> list[str]:
    """The words of a normalised text; a run of Chinese or Japanese characters counts as one."""
    return _WORD.findall(normalised)


@remembered(8_192)  # the phrasings that come up again and again; 5 to 45 kB each
def pieces(text: str) -> Pieces:
    """A text, normalised and cut up."""
    normalised = normalise(text)
    return Pieces(normalised, character_grams(normalised))


def character_grams(normalised: str) -> Grams:
    """What two spellings share: pairs of characters in CJK runs, threes and fours in other words."""
    grams: set[str] = set()
    for word in words(normalised):
        if _CJK_CHARACTER.match(word):
            grams.update(_runs(word, (1, 2, 3)))
        else:
            grams.update(_runs(f"_{word}_", (3, 4)))
    return frozenset(grams)


def _runs(word: str, lengths: Iterable[int]) -> Iterable[str]:
    for length in lengths:
        for start in range(len(word) - length + 1):
            yield word[start : start + length]


def _run_kept(run: re.Match[str]) -> str:
    """All of `C++`; of a run that nothing stands before, the last mark, which may belong to what follows."""
    return run.group() if run[1] else f" {run[2]}"


def _kept(mark: re.Match[str]) -> str:
    """The character where it stands, or a space if it only punctuates."""
    text, at, character = mark.string, mark.start(), mark.group()
    category = unicodedata.category(character)
    if category[0] in "LMN" or character in _ALWAYS_KEPT:
        return character
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if _is_meaningful(character, before, after):
        return character
    if category[0] == "S" and character not in "`^~|+<>=":
        return character
    return " "


def _is_meaningful(character: str, before: str, after: str) -> bool:
    """Whether a mark changes the meaning where it stands."""
    match character:
        case "-":  # minus and ranges; the hyphen of a compound is a space
            return after.isdigit() and not before.isalpha()
        case "." | ":" | "/" | ",":
            return (before.isdigit() and after.isdigit()) or (character == "." and _latin(after))
        case "'":
            return before.isalpha() and after.isalpha()
        case "+" | "#" | "^" | "_":
            return before.isalnum() or after.isalnum() or before == character
        case "@":
            return after.isalnum()
        case "<" | ">" | "=" | "~":
            return before.isdigit() or after.isdigit()
        case _:
            return False


def _latin(character: str) -> bool:
    return character.isascii() and character.isalnum()
