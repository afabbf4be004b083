"""What one side leaves out and the other is about: "a month other than April"; 4月以外; 除了工作日."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Self

from cache.guards import Compared
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, Text, content_word
from languages.remembering import remembered
from languages.words import Word, word_reader

__all__ = ["ExclusionGuard"]

_THING = ("noun", "name", "number")


@dataclass(frozen=True, slots=True)
class ExclusionGuard:
    """Vetoes an entry about the very thing that a question leaves out, and the other way round."""

    read: Mapping[str, Callable[[Text], frozenset[str]]]  # what a text leaves out
    name: str = "exclusion"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped words."""
        tables = read_table("exclusion.yaml", "cache.guards").items()
        terms = {language: Terms.of(table, inflected=False) for language, table in tables}
        return cls(
            {language: remembered(REMEMBERED)(partial(_left_out, own)) for language, own in terms.items()}
        )

    def veto(self, compared: Compared, /) -> str | None:
        """What is left out, and by whom."""
        read, asked = self.read[compared.language], compared.asked
        here, there = read(asked), read(compared.nearest)
        if here:
            stored = compared.stored
            differs = not any(map(read, stored)) and any(here <= _bases(text) for text in stored)
            return f"the question leaves out “{_written(here)}”, the entry does not" if differs else None
        if there and there <= _bases(asked) and all(map(read, compared.stored)):
            return f"the entry leaves out “{_written(there)}”, the question does not"
        return None


def _written(thing: frozenset[str]) -> str:
    return " ".join(sorted(thing))


def _bases(text: Text) -> frozenset[str]:
    return frozenset(word.base for word in text.words)


def _left_out(terms: Terms, text: Text) -> frozenset[str]:
    """What a text leaves out, in base forms."""
    return frozenset[str]().union(*(_thing(one, text) for one in terms.find(text.plain)))


def _thing(marker: Found, text: Text) -> frozenset[str]:
    """The name, or the compound with its number, that stands beside the marker."""
    behind = "after" in marker.meanings
    part = text.plain[: marker.start] if behind else text.plain[marker.end :]
    words: Iterable[Word] = word_reader()(part, text.language)
    words = [word for word in words if word.kind != "mark"]
    spoken = [*reversed(words)] if behind else [*words]
    at = next((at for at, word in enumerate(spoken) if content_word(word, text.language)), len(spoken))
    first, rest = spoken[at : at + 1], spoken[at + 1 :] if text.language != "en" else []
    return frozenset(word.base for word in (*first, *takewhile(lambda word: word.kind in _THING, rest)))
