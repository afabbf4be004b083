"""Text as judges compare it: one form per meaning of the same characters. Pure functions."""

from __future__ import annotations

import re

from languages.scripts import EAST_ASIAN, HIRAGANA, INVISIBLE, KATAKANA
from languages.spelling import one_spelling

__all__ = ["has_kana", "has_words", "kana_alone", "mostly_cjk", "normalise", "only_words"]

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SPACE = re.compile(r"\s+")
_KANA = re.compile(f"[{HIRAGANA}{KATAKANA}]")
_HIRAGANA = re.compile(f"[{HIRAGANA}ー]")
_SENTENCE = 8  # characters
_CJK_CHARACTER = re.compile(f"[{EAST_ASIAN}]")
_WORD = re.compile(r"[^\W_]")
_NO_WORD = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """NFKC, no invisible characters, one spelling of each word, lower case, single spaces."""
    visible = one_spelling(_INVISIBLE.sub("", text))
    return _SPACE.sub(" ", visible).strip().casefold()


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit to judge by."""
    return _WORD.search(text) is not None


def has_kana(text: str) -> bool:
    """Whether it is Japanese by its script: Chinese has none."""
    return _KANA.search(text) is not None


def kana_alone(text: str) -> bool:
    """Whether a sentence is in hiragana, as children and learners write; encoders read little of it."""
    hiragana = len(_HIRAGANA.findall(text))
    return hiragana >= _SENTENCE and hiragana >= 0.9 * len(_WORD.findall(text))


def only_words(text: str) -> str:
    """A normalised text without punctuation and symbols: two that are equal ask the same."""
    return _NO_WORD.sub(" ", text).strip()


def mostly_cjk(text: str) -> bool:
    """Whether a text is Japanese or Chinese rather than in a script with spaces."""
    return 3 * len(_CJK_CHARACTER.findall(text)) > len(text)
