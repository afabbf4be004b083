"""Error codes, form and model numbers: a name with digits in it is right or wrong as a whole."""

from __future__ import annotations

import re
from functools import cache
from typing import Self

from cache.guards import Compared, about_any
from cache.reading.tables import read_table
from cache.reading.text import normalise
from cache.reading.words import REMEMBERED, Text, overlap
from languages.remembering import remembered

__all__ = ["IdentifierGuard", "identifiers", "without_identifiers"]

_SAME_BUT_FOR_IT = 0.6  # share of other content in common from which one side's silence tells them apart
_LETTER_BESIDE_DIGIT = re.compile(r"[a-z][-_]?\d|\d[a-z]", re.ASCII)
_IDENTIFIER = re.compile(
    r"(?<![a-z\d.])(?:[a-z]{1,4}[-_]|[a-z]+)?\d[a-z\d]*(?:[-._/][a-z]*\d[a-z\d]*)*(?![a-z\d])", re.ASCII
)
_PLAIN_NUMBER = re.compile(r"v?[\d.,:/-]+", re.ASCII)  # "v2.1" is a number, too


class IdentifierGuard:
    """Vetoes an entry that names another code or model, or one that the question does not name.

    What has a single digit among letters (mp3, 2fa) may be spelt out, and counts only against another.
    """

    name = "identifiers"

    @classmethod
    def load(cls) -> Self:
        """The guard; it knows a unit behind a number by numbers.yaml."""
        _units()
        return cls()

    def veto(self, compared: Compared, /) -> str | None:
        """The names of both, if they differ."""
        asked, nearest = compared.asked, compared.nearest
        here, there = identifiers(asked.written), identifiers(nearest.written)
        if here == there:
            return None
        stored = [identifiers(text.written) for text in compared.stored]
        if about_any(stored):
            return None
        unknown = _absent(here - frozenset[str]().union(*stored), nearest)
        needed = _absent(frozenset.intersection(*stored) - here, asked)
        if not (unknown or needed) or not _counts(unknown, needed, asked, nearest):
            return None
        return f"the question has {_listed(here)}, the entry {_listed(there)}"


def _absent(names: frozenset[str], text: Text) -> frozenset[str]:
    """The names that a text does not have, not even in parts: iPhone 15 is iphone15."""
    joined = re.sub(r"[\s_-]", "", text.written)
    return frozenset(name for name in names if name not in joined)


def identifiers(written: str) -> frozenset[str]:
    """The identifiers of a text, without the marks inside them: E-1042 is e1042."""
    return frozenset(re.sub("[-_]", "", name) for name in _found(written))


def without_identifiers(text: Text) -> str:
    """The normalised text without its identifiers, whose digits are no numbers."""
    names = _found(text.written)
    if not names:
        return text.plain
    return normalise(
        _IDENTIFIER.sub(lambda found: " " if found.group() in names else found.group(), text.written)
    )


@remembered(REMEMBERED)
def _found(written: str) -> frozenset[str]:
    if not _LETTER_BESIDE_DIGIT.search(written):
        return frozenset()
    return frozenset(name for name in _IDENTIFIER.findall(written) if not _is_number(name))


def _is_number(name: str) -> bool:
    """Whether it is a number, alone or with its unit (5km, 2nd, 10gb)."""
    return bool(_PLAIN_NUMBER.fullmatch(name) or _units().fullmatch(name))


@cache
def _units() -> re.Pattern[str]:
    table = read_table("numbers.yaml", "cache.guards")
    spellings = {spelling for spellings in table["units"].values() for spelling in spellings}
    latin = sorted(one for one in spellings if one.isascii() and one.isalpha())
    return re.compile(rf"[\d.,]+(?:{'|'.join(latin)}|st|nd|rd|th|k)", re.ASCII)


def _counts(unknown: frozenset[str], needed: frozenset[str], asked: Text, nearest: Text) -> bool:
    """Whether both sides name one, or one side's silence about a real code tells them apart."""
    if unknown and identifiers(nearest.written) - identifiers(asked.written):
        return True
    codes = any(sum(map(str.isdigit, name)) > 1 for name in unknown | needed)
    names = frozenset(word.base for text in (asked, nearest) for word in text.words if _has_digit(word.base))
    return codes and overlap(asked, nearest, names) >= _SAME_BUT_FOR_IT


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"
