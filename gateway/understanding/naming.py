"""The words of a question that name something of their own, rather than ask about something named before."""

from __future__ import annotations

import re

from gateway.understanding.wording import Wording
from languages.scripts import HAN, KATAKANA
from languages.words import word_reader

__all__ = ["is_name", "naming_words", "stem"]

_WORD = re.compile(r"[A-Za-z][\w'’&-]*|\d[\w.%-]*")
_RUN = re.compile(rf"[{HAN}]{{2,}}|[{KATAKANA}]{{2,}}|[{HAN}{KATAKANA}]{{3,}}|[A-Za-z][\w'’&-]+|\d[\w.%-]+")
_SUFFIXES = ("'s", "ies", "es", "s", "ing", "ed", "d", "ly", "'re", "'ve", "'ll", "'d", "'m", "n't")
_SHORTEST_STEM = 3
_CHINESE_KINDS = ("noun", "name", "verb")


def naming_words(text: str, wording: Wording) -> list[str]:
    """The words, or runs of characters, that are not generic."""
    if wording.language == "en":
        return [word for word in _WORD.findall(text) if not _is_generic(word, wording)]
    if wording.language == "zh":
        read = (word.surface for word in word_reader()(text, "zh") if word.kind in _CHINESE_KINDS)
        return [word for word in read if len(word) > 1 and word not in wording.generic]
    runs: list[str] = _RUN.findall(wording.generic_runs.sub(" ", text))
    return [run for run in runs if not wording.generic.issuperset(run)]


def is_name(word: str) -> bool:
    """Whether a word is written like a name or an identifier: Tesla, 401k, iPhone."""
    return any(character.isupper() or character.isdigit() for character in word)


def stem(word: str) -> str:
    """A word without the endings of plural, past and progressive."""
    word = word.lower().replace("’", "'")
    for suffix in _SUFFIXES[:6]:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)]
    return word


def _is_generic(word: str, wording: Wording) -> bool:
    word = word.lower().replace("’", "'")
    if len(word) == 1 or word in wording.generic:
        return True
    ends = [suffix for suffix in _SUFFIXES if word.endswith(suffix) and len(word) - len(suffix) > 1]
    stems = [word[: -len(suffix)] for suffix in ends]
    return any(stem + end in wording.generic for stem in stems for end in ("", "e", "y"))
