"""Guards look for one reason why a close entry asks something else. They can veto, never serve."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from cache.reading.words import Text, load_words, read_text

__all__ = ["Compared", "Guard", "about_any", "default_guards", "quoted"]

_OPEN_FROM = 3  # different things that the phrasings of an entry name


@dataclass(frozen=True, slots=True)
class Compared:
    """A question beside an entry's phrasings; all texts as they were written."""

    question: str
    phrasing: str  # the phrasing nearest to the question
    phrasings: tuple[str, ...]  # all of the entry's, the nearest included
    language: str  # ISO 639-1

    @property
    def asked(self) -> Text:
        """The question as guards read it."""
        return read_text(self.question, self.language)

    @property
    def nearest(self) -> Text:
        """The nearest phrasing as guards read it."""
        return read_text(self.phrasing, self.language)

    @property
    def stored(self) -> tuple[Text, ...]:
        """All phrasings as guards read them; ask for them only when the nearest one differs."""
        return tuple(read_text(text, self.language) for text in self.phrasings)


class Guard(Protocol):
    """What may keep an entry back.

    Where the phrasings of an entry themselves disagree (one says 5 days, another 7, a third 9),
    a person said that the answer does not depend on it, and the guard stays silent.
    """

    @property
    def name(self) -> str: ...

    def veto(self, compared: Compared, /) -> str | None:
        """What differs, for a reviewer to read; None if this guard sees no difference.

        Raises:
            LookupError: if the guard has no words for this language. Not checked is not passed.
        """
        ...


def about_any(stored: Iterable[frozenset[Hashable]]) -> bool:
    """Whether the phrasings of an entry name so many different things that it is about any of them.

    Args:
        stored: what each phrasing names; one that names nothing says nothing.
    """
    return len({*stored} - {frozenset()}) >= _OPEN_FROM


def quoted(words: Iterable[str]) -> str:
    """The words as an objection tells of them, each once."""
    return ", ".join(f"“{word}”" for word in dict.fromkeys(words))


@cache
def default_guards() -> tuple[Guard, ...]:
    """The guards that ship, loaded from their tables; the cheapest first."""
    from cache.guards.aspects import AspectsGuard
    from cache.guards.classes import ClassesGuard
    from cache.guards.direction import DirectionGuard
    from cache.guards.exchange import ExchangeGuard
    from cache.guards.exclusion import ExclusionGuard
    from cache.guards.identifiers import IdentifierGuard
    from cache.guards.modality import ModalityGuard
    from cache.guards.names import NamesGuard
    from cache.guards.numbers import NumberGuard
    from cache.guards.polarity import PolarityGuard
    from cache.guards.qualifiers import QualifiersGuard
    from cache.guards.reported import without_reporters
    from cache.guards.substitution import SubstitutionGuard
    from cache.guards.undoing import UndoingGuard

    load_words()
    tables = (
        ClassesGuard.load("opposites", turned_by_negation=True, spoken_for=("en", "ja", "zh"), acts=True),
        ClassesGuard.load("kinds", least_overlap=0.3, so_short=3, spoken_for=("ja", "zh")),
        ClassesGuard.load("comparison", least_overlap=0.3),
        ClassesGuard.load("quantifiers", least_overlap=0.4),
        ClassesGuard.load("persons", alone_overlap=0.6, read=without_reporters),
        ClassesGuard.load("dates"),
        ClassesGuard.load("units"),
        ClassesGuard.load(
            "verbs", least_overlap=0.5, turned_by_negation=True, spoken_for=("ja", "zh"), acts=True
        ),
    )
    return (
        NumberGuard.load(),
        IdentifierGuard.load(),
        NamesGuard.load(),
        DirectionGuard.load(),
        PolarityGuard.load(),
        ExclusionGuard.load(),
        ExchangeGuard(),
        UndoingGuard.load(),
        QualifiersGuard.load(),
        ModalityGuard.load(),
        AspectsGuard.load(),
        *tables,
        SubstitutionGuard(tables),
    )
