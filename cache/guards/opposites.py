"""Each text names one side of a pair of opposites: enable, disable; 有効, 無効; 开通, 关闭."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from cache.guards import Compared
from cache.guards.tables import read_table, word_pattern

__all__ = ["OppositesGuard"]

_Side = Literal["one", "other"]


@dataclass(frozen=True, slots=True)
class _Pair:
    either: re.Pattern[str]  # both sides in one pattern: 非公開 must not be read as 公開
    one: re.Pattern[str]

    def named_in(self, text: str) -> dict[_Side, str]:
        """The sides that the text names, each with the word that it used."""
        named: dict[_Side, str] = {}
        for found in self.either.finditer(text):
            word = found.group()
            named.setdefault("one" if self.one.fullmatch(word) else "other", word)
        return named


@dataclass(frozen=True, slots=True)
class OppositesGuard:
    """Vetoes an entry that is about the other side of what was asked."""

    languages: Mapping[str, tuple[_Pair, ...]]
    name: str = "opposites"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped pairs for English, Japanese and Chinese."""
        return cls(
            {
                language: tuple(
                    _Pair(word_pattern([*pair["one"], *pair["other"]]), word_pattern(pair["one"]))
                    for pair in pairs
                )
                for language, pairs in read_table("opposites.yaml").items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """The two opposite words, if the entry names only the side that was not asked for."""
        pairs = self.languages[compared.language]
        if compared.language != "en":
            pairs += self.languages["en"]
        for pair in pairs:
            asked, stored = pair.named_in(compared.question), pair.named_in(compared.phrasing)
            if len(asked) != 1 or len(stored) != 1 or asked.keys() == stored.keys():
                continue
            (side, word), (other,) = next(iter(asked.items())), stored.values()
            if not any(side in pair.named_in(text) for text in compared.phrasings):
                return f"the question says “{word}”, the entry “{other}”"
        return None
