"""Whether one must, may only so, or has done it, and why: what one can do, and how, answers none of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from cache.guards import Compared
from cache.reading.tables import read_table
from cache.reading.words import Text

__all__ = ["ModalityGuard"]

_NEVER: Final = "(?!)"  # matches nowhere
_TELLS: Final = {
    "must": "whether one must",
    "only": "whether there is nothing else",
    "happened": "what has happened",
    "happens": "what will be done to it",
    "wrong": "about a mistake",
    "end": "from when one may end it",
    "why": "why",
}


@dataclass(frozen=True, slots=True)
class _Rule:
    asked: re.Pattern[str]
    unless: re.Pattern[str]
    said: re.Pattern[str]

    @classmethod
    def of(cls, rows: Mapping[str, list[str]]) -> Self:
        return cls(*(re.compile("|".join(rows.get(name, [_NEVER]))) for name in ("asked", "unless", "said")))

    def asks(self, text: Text) -> bool:
        return bool(self.asked.search(text.written)) and not self.unless.search(text.written)

    def speaks(self, text: Text) -> bool:
        return bool(self.said.search(text.written))


@dataclass(frozen=True, slots=True)
class ModalityGuard:
    """Vetoes an entry when the question asks something of the same thing that no phrasing speaks of.

    And the other way round, where all phrasings ask it.
    """

    languages: Mapping[str, Mapping[str, _Rule]]
    name: str = "modality"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped table."""
        table: Mapping[str, Mapping[str, Any]] = read_table("modality.yaml", "cache.guards")
        return cls(
            {
                language: {what: _Rule.of(rows) for what, rows in own.items()}
                for language, own in table.items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """What only one side asks."""
        asked = compared.asked
        for what, rule in self.languages[compared.language].items():
            if rule.asks(asked):
                if not any(rule.speaks(text) for text in compared.stored):
                    return f"the question asks {_TELLS[what]}, the entry does not"
            elif not rule.speaks(asked) and all(rule.asks(text) for text in compared.stored):
                return f"the entry tells {_TELLS[what]}, the question asks something else"
        return None
