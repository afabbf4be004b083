"""Which words of a text are written as names of products, places and people.

English names are told by their capitals, Japanese ones by katakana or the dictionary, Chinese ones by the
dictionary; Latin words in Japanese and Chinese are names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from languages.scripts import KATAKANA
from languages.words import Word

__all__ = ["IN_KATAKANA", "IN_LATIN", "named"]

IN_KATAKANA: Final = re.compile(f"[{KATAKANA}]{{2,}}")
IN_LATIN: Final = re.compile(r"[A-Za-z][A-Za-z+#.&-]+")
_MOSTLY: Final = 0.6  # share of capitalised words from which capitals say nothing (A Title, A SHOUT)


def named(words: Sequence[Word], language: str) -> tuple[int, ...]:
    """The places of the words that are written as names, with the case that the person wrote."""
    if language == "en":
        return _capitalised(words)
    return tuple(
        at
        for at, word in enumerate(words)
        if word.kind == "name" or IN_KATAKANA.fullmatch(word.surface) or IN_LATIN.fullmatch(word.surface)
    )


def _capitalised(words: Sequence[Word]) -> tuple[int, ...]:
    capital = [word.surface[0].isupper() for word in words if word.kind == "noun"]
    if sum(capital) > _MOSTLY * len(capital):
        return ()
    places, begins = [], True
    for at, word in enumerate(words):
        marked = word.surface if not begins else word.surface[1:]
        if marked != marked.lower() and not any(map(str.isdigit, marked)):
            places.append(at)
        begins = word.surface in ".?!:"
    return tuple(places)
