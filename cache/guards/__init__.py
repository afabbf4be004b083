"""Guards look for one reason why a close entry asks something else. They can veto, never serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Compared", "Guard", "default_guards"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A question beside an entry's phrasings; all texts as `cache.text.normalise` left them."""

    question: str
    phrasing: str  # the phrasing nearest to the question
    phrasings: tuple[str, ...]  # all of the entry's, the nearest included
    language: str  # ISO 639-1


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


def default_guards() -> tuple[Guard, ...]:
    """The guards that ship, loaded from their tables; the cheapest first."""
    from cache.guards.numbers import NumberGuard
    from cache.guards.opposites import OppositesGuard
    from cache.guards.polarity import PolarityGuard

    return (NumberGuard.load(), PolarityGuard.load(), OppositesGuard.load())
