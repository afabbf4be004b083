"""One text says it, the other says it not: "can I", "can I not"; できますか, できません; 能, 不能."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from cache.guards import Compared
from cache.reading.tables import Found, Terms, read_table
from cache.reading.words import REMEMBERED, Text, overlap
from encoders.remembering import remembered
from encoders.words import Word, word_reader

__all__ = ["PolarityGuard", "is_negated"]

_ABOUT_THE_SAME = 0.4  # share of content in common from which a denied word can be the difference
_SAME_BUT_FOR_IT = 0.85  # from which a negation is the difference, whatever word it denies
_ASKING = re.compile(r"[不没]\W*$")  # 能用不？ only asks
_AGAIN = "再"  # 不想再用: read as one word
_BEHIND = 12  # characters after a Chinese negation that may hold what it denies


@dataclass(frozen=True, slots=True)
class _Reading:
    negations: tuple[str, ...]
    denied: frozenset[str]  # what they deny, as `_root` gives it
    troubled: bool  # "failed" and "wrong" deny, too, but nobody can say what


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language that turn a question round."""

    terms: Terms
    skipped: frozenset[str]  # between a negation and what it denies

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        meanings = {kind: table[kind] for kind in ("before", "after", "troubled")}
        return cls(Terms.of(meanings, passed=table["neutral"], inflected=False), frozenset(table["skipped"]))

    def read(self, plain: str, language: str) -> _Reading:
        found = self.terms.find(plain)
        negations = [one for one in found if "troubled" not in one.meanings]
        denied = (self._denied(one, plain, language) for one in negations)
        return _Reading(
            tuple(one.word for one in negations),
            frozenset(word for word in denied if word),
            len(negations) < len(found),
        )

    def _denied(self, negation: Found, plain: str, language: str) -> str:
        """What a negation denies: the word before it in Japanese, mostly the one after it elsewhere."""
        if "after" in negation.meanings:
            words = word_reader()(plain[: negation.start], language)[::-1]
        else:
            words = word_reader()(plain[negation.end :], language)
        for word in words[:_BEHIND]:
            said = {word.base, word.surface, word.base.removeprefix(_AGAIN)}
            passed_over = word.kind in ("mark", "number") or said & self.skipped
            if not passed_over and (language != "ja" or word.kind != "other"):
                return _root(word)
        return ""


def _root(word: Word) -> str:
    """What 使う, 使える and 使用 share; in other words their base."""
    first = word.base[:1]
    return first if word.kind == "verb" and "\u4e00" <= first <= "\u9fff" else word.base


@cache
def _tables() -> dict[str, _Words]:
    return {
        language: _Words.of(table) for language, table in read_table("polarity.yaml", "cache.guards").items()
    }


@remembered(REMEMBERED)
def _read(plain: str, language: str) -> _Reading:
    own = _tables()[language].read(_ASKING.sub("", plain) if language == "zh" else plain, language)
    return own if own.negations or own.troubled or language == "en" else _tables()["en"].read(plain, "en")


def is_negated(text: Text) -> bool:
    """Whether a text denies something.

    Raises:
        LookupError: if the language has no words here.
    """
    return bool(_read(text.plain, text.language).negations)


@dataclass(frozen=True, slots=True)
class PolarityGuard:
    """Vetoes an entry when exactly one of question and entry denies what the other says."""

    read: Callable[[str, str], _Reading] = _read
    name: str = "polarity"

    @classmethod
    def load(cls) -> Self:
        """The guard with the shipped words for English, Japanese and Chinese."""
        _tables()
        return cls()

    def veto(self, compared: Compared, /) -> str | None:
        """What is negated, if exactly one side is and all phrasings agree among themselves."""
        asked, nearest = compared.asked, compared.nearest
        here, there = self.read(asked.plain, asked.language), self.read(nearest.plain, nearest.language)
        if bool(here.negations) == bool(there.negations):
            return None
        differs = (
            _differs(here, asked, nearest, there) if here.negations else _differs(there, nearest, asked, here)
        )
        if not differs:
            return None
        stored = [self.read(text.plain, text.language) for text in compared.stored]
        if any(bool(one.negations) == bool(here.negations) for one in stored):
            return None
        if here.negations:
            return f"the question is negated (“{here.negations[0]}”), the entry is not"
        return f"the entry is negated (“{there.negations[0]}”), the question is not"


def _differs(denying: _Reading, negated: Text, other: Text, saying: _Reading) -> bool:
    """Whether the other text says what the negated one denies."""
    if saying.troubled:
        return False
    alike = overlap(negated, other)
    said = denying.denied & {_root(word) for word in other.words}
    enough = len(set(negated.content) & set(other.content)) > 1
    return (bool(said) and alike >= _ABOUT_THE_SAME) or (enough and alike >= _SAME_BUT_FOR_IT)
