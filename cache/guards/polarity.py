"""One text says it, the other says it not: "can I", "can I not"; できますか, できません; 能, 不能."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from cache.guards import Compared
from cache.guards.tables import read_table, word_pattern

__all__ = ["PolarityGuard"]


@dataclass(frozen=True, slots=True)
class _Negation:
    negations: re.Pattern[str]
    neutral: re.Pattern[str]

    def found_in(self, text: str) -> str:
        """The first word that negates, or nothing."""
        found = self.negations.search(self.neutral.sub(" ", text))
        return found.group() if found else ""


@dataclass(frozen=True, slots=True)
class PolarityGuard:
    """Vetoes an entry when exactly one of question and entry is negated."""

    languages: Mapping[str, _Negation]
    name: str = "polarity"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped words for English, Japanese and Chinese."""
        return cls(
            {
                language: _Negation(
                    word_pattern(table["negations"], inflected=False),
                    word_pattern(table["neutral"], inflected=False),
                )
                for language, table in read_table("polarity.yaml").items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """What is negated, if exactly one side is and all phrasings agree among themselves."""
        asked = self._negation(compared.question, compared.language)
        stored = self._negation(compared.phrasing, compared.language)
        if bool(asked) == bool(stored):
            return None
        negated = [bool(self._negation(text, compared.language)) for text in compared.phrasings]
        if any(negated) and not all(negated):
            return None
        if asked:
            return f"the question is negated (“{asked}”), the entry is not"
        return f"the entry is negated (“{stored}”), the question is not"

    def _negation(self, text: str, language: str) -> str:
        own = self.languages[language].found_in(text)
        return own or self.languages["en"].found_in(text)
