"""From where and to where: "pounds to euros" is not "euros to pounds"; AからB, 从A到B.

Also done, or to do; after something, or until it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from cache.guards import Compared
from cache.guards.since import turned_round
from cache.guards.voice import done_to
from cache.reading.tables import read_table
from cache.reading.words import REMEMBERED, Text, content_word
from languages.remembering import remembered
from languages.scripts import HAN, KATAKANA
from languages.words import Word

__all__ = ["DirectionGuard"]

_MOVES = {
    "ja": re.compile(f"([{HAN}{KATAKANA}a-z]{{2,}}(?<![中時際後前間日内]))(?=[にへ])"),
    "zh": re.compile(
        r"(?:转[成为到入]?|[换改变][成为到]|兑换?成?|[导传迁搬寄飞开汇][到往至]|[回到往])(?:我的?|新的)?([^\W\d的了]{2})"
    ),
}
_NEAR = 4  # words between a direction and its thing: "to my own new account"


@dataclass(frozen=True, slots=True)
class _Way:
    sources: frozenset[str]
    targets: frozenset[str]
    pairs: frozenset[tuple[str, str]]  # what stands before a target, and the target: "pounds to euros"
    moves: Mapping[str, str]  # a target, and the text where its source may stand; by characters, not words


@dataclass(frozen=True, slots=True)
class _Directions:
    """The words of one language that say from where and to where."""

    sources: frozenset[str]
    targets: frozenset[str]
    either: frozenset[str]  # also where it may mean another thing
    between: frozenset[str]
    linking: frozenset[str]  # between a generic thing and what says which
    generic: frozenset[str]
    passive: frozenset[str]
    language: str

    @classmethod
    def of(cls, table: Mapping[str, list[str]], language: str) -> Self:
        words = {name: frozenset(row) for name, row in table.items()}
        return cls(
            sources=words["from"],
            targets=words["to"],
            either=words["to"] | words["into"],
            between=words["between"],
            linking=words["linking"],
            generic=words["generic"],
            passive=words.get("passive", frozenset()),
            language=language,
        )

    def way(self, text: Text) -> _Way:
        """Where things come from and go to in a text."""
        sources: set[str] = set()
        targets: set[str] = set()
        pairs: set[tuple[str, str]] = set()
        passive = any(word.base in self.passive for word in text.words)
        for at, word in enumerate(text.words):
            mark = word.surface.casefold()
            if mark not in self.either and mark not in self.sources:
                continue
            thing, before = self._thing(text.words, at)
            if mark in self.sources:
                sources.add(thing)
            else:
                pairs |= set() if passive else {(before, thing)}
                targets |= {thing} if mark in self.targets else set()
        unknown = self.generic | {""}
        moves = {} if passive else _moves(text)
        return _Way(frozenset(sources) - unknown, frozenset(targets) - unknown, frozenset(pairs), moves)

    def _thing(self, words: tuple[Word, ...], at: int) -> tuple[str, str]:
        """What the direction at a place is about, and the thing before that, if there is one."""
        behind = words[at + 1 : at + 1 + _NEAR]
        if self.language == "ja":
            behind = words[max(0, at - _NEAR) : at][::-1]
        thing = self._told(behind)
        if thing is None or thing.kind in ("mark", "number", "verb") or thing.surface.endswith("ing"):
            return "", ""
        earlier = words[: at - 1 if self.language == "ja" else at][-_NEAR:]
        before = (found for word in reversed(earlier) if (found := content_word(word, self.language)))
        return content_word(thing, self.language), next(before, "")

    def _told(self, behind: tuple[Word, ...]) -> Word | None:
        """The first word of a thing; of a generic one what says which: "an account abroad", 海外の口座."""
        first = next((word for word in behind if word.surface.casefold() not in self.between), None)
        if first is None or first.surface.casefold() not in self.generic:
            return first
        rest = behind[behind.index(first) + 1 :]
        which = next((word for word in rest if word.surface.casefold() not in self.linking), None)
        return which if which is not None and content_word(which, self.language) else first


def _moves(text: Text) -> dict[str, str]:
    """What things become or where they go: 活期转定期, 定期預金に. Words would be cut in several ways."""
    found = _MOVES[text.language].finditer(text.written) if text.language in _MOVES else ()
    return {
        move[1]: text.written[: move.start()] if text.language == "zh" else text.written.replace(move[1], "")
        for move in found
    }


@dataclass(frozen=True, slots=True)
class DirectionGuard:
    """Vetoes an entry about the same things the other way round."""

    languages: Mapping[str, Callable[[Text], _Way]]
    name: str = "direction"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped words."""
        table = read_table("direction.yaml", "cache.guards")
        return cls(
            {
                language: remembered(REMEMBERED)(_Directions.of(words, language).way)
                for language, words in table.items()
            }
        )

    def veto(self, compared: Compared, /) -> str | None:
        """What changed places."""
        done = done_to(compared.asked, compared.nearest)
        if done and all(done_to(compared.asked, text) for text in compared.stored):
            return done
        if spans := turned_round(compared.asked, compared.nearest, compared.stored):
            return spans
        way = self.languages[compared.language]
        asked = way(compared.asked)
        turned = _turned(asked, way(compared.nearest))
        if not turned or any(not _turned(asked, way(text)) for text in compared.stored):
            return None
        return f"the other way round: {', '.join(sorted(turned))}"


def _turned(asked: _Way, stored: _Way) -> frozenset[str]:
    """What is a source here and a target there, or a target here and stands before one there."""
    moved = {
        target
        for target, rest in asked.moves.items()
        for other, elsewhere in stored.moves.items()
        if target in elsewhere
        and other in rest
        and {target, other}.isdisjoint(asked.moves.keys() & stored.moves.keys())
    }
    if moved:
        return frozenset(moved)
    if asked.sources & stored.sources or asked.targets & stored.targets:
        return frozenset()
    crossed = asked.sources & stored.targets | asked.targets & stored.sources
    swapped = {
        target for before, target in asked.pairs if before and target and (target, before) in stored.pairs
    }
    return crossed | swapped
