"""Which of many patterns to search a text for: each has signs, without one of which it finds nothing.

The words and signs of a text are looked up once, and most texts have no sign of any number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from classifiers.faithfulness.quantities.pool import Reader

__all__ = ["DIGIT", "Look", "Lookout"]

DIGIT = "0"  # as a sign: any digit
ANY_DIGIT = re.compile(r"\d")
LETTERS = re.compile("[a-z]+")


class Look(NamedTuple):
    """A pattern to look for, and who reads what it finds."""

    signs: str  # parted by spaces: whole words of a-z, and other characters
    pattern: str
    read: Reader
    hint: str = ""  # quicker to look for, where signs are common and the pattern is slow


class Lookout:
    """Patterns, to be asked which of them a text may have."""

    def __init__(self, looks: Iterable[Look]) -> None:
        self._looks: list[tuple[re.Pattern[str], Reader, re.Pattern[str] | None]] = []
        self._by_sign = defaultdict[str, list[int]](list)
        for number, look in enumerate(looks):
            hint = re.compile(look.hint) if look.hint else None
            self._looks.append((re.compile(look.pattern), look.read, hint))
            for sign in look.signs.split():
                self._by_sign[sign].append(number)
        self._signs = frozenset(self._by_sign)
        characters = (sign for sign in self._signs - {DIGIT} if not LETTERS.fullmatch(sign))
        self._sign = re.compile(f"{LETTERS.pattern}|[{''.join(map(re.escape, characters))}]")

    def on(self, text: str) -> Iterator[tuple[re.Pattern[str], Reader]]:
        """The patterns that a folded text may have, in their order."""
        found = self._signs.intersection(self._sign.findall(text))
        if ANY_DIGIT.search(text):
            found |= {DIGIT}
        for number in sorted({number for sign in found for number in self._by_sign[sign]}):
            pattern, read, hint = self._looks[number]
            if hint is None or hint.search(text):
                yield pattern, read
