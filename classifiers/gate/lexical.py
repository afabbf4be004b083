"""How much of a question stands in a text, weighted by how telling each piece is.

Dense vectors of a small English model say little about Japanese and Chinese, and nothing about names and
numbers. The share of a question's own words that a passage holds does. Words are stems in spaced scripts and
pairs of characters in Japanese and Chinese.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from classifiers.text import normalise
from languages.scripts import EAST_ASIAN, HIRAGANA

__all__ = ["Rarity", "lexical_share", "pieces"]

_RUN = re.compile(rf"[{EAST_ASIAN}]+|[^\W{EAST_ASIAN}_]+")
_HIRAGANA = re.compile(f"[{HIRAGANA}]")
_NO_LETTER = re.compile(r"[\W_]+")

# Function words carry grammar, not the subject. The short lists hold what people ask questions with.
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about all am an and any are as at be been but by can could did do does for from had has have hello
        hi how i if in is it its just may me more must my need no not of on one or our out please shall should
        so some than thank thanks that the their them then there these they this to up us want was we were
        what when where which who whose why will with would you your
        """,
    )
)
_FUNCTION_CHARACTERS = frozenset(
    "的了吗嗎呢吧啊是在有我你您他她它这那哪什么麼怎谁请問问和与或就都也被把为以及于于些个們们几多少"
)
_GRAMMAR_WEIGHT = 0.15
_MIXED_WEIGHT = 0.5  # a pair with one hiragana or one function character still holds half a word


@dataclass(frozen=True, slots=True)
class Rarity:
    """How telling a piece is: fitted on the operator's passages, what stands everywhere tells little."""

    passages: int = 0
    frequency: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def fitted(cls, texts: Iterable[str]) -> Rarity:
        """Count in how many texts each piece stands."""
        count, frequency = 0, Counter[str]()
        for text in texts:
            count += 1
            frequency.update(set(pieces(text)))
        return cls(count, dict(frequency))

    def weight(self, piece: str) -> float:
        """What its script says of a piece, times its inverse document frequency if that is known."""
        if not self.passages:
            return _script_weight(piece)
        seen = self.frequency.get(piece, 0)
        return _script_weight(piece) * math.log(1 + (self.passages - seen + 0.5) / (seen + 0.5))


def lexical_share(question: str, text: str, rarity: Rarity | None = None) -> float:
    """The weighted share of the question's pieces that stand in the text, 0..1."""
    rarity = rarity or _UNFITTED
    weights = {piece: rarity.weight(piece) for piece in _question_pieces(question)}
    total = sum(weights.values())
    if not total:
        return 0.0
    searchable = _searchable(text)
    return sum(weight for piece, weight in weights.items() if _needle(piece) in searchable) / total


def pieces(text: str) -> list[str]:
    """The stems and the pairs of characters of a text, in order, repeated where they repeat."""
    found: list[str] = []
    for run in _RUN.findall(normalise(text)):
        if not _is_cjk(run[0]):
            found.append(_stem(run))
        elif len(run) == 1:
            found.append(run)
        else:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
    return found


@lru_cache(maxsize=256)
def _question_pieces(question: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pieces(question)))  # a question is compared with many passages in a row


@lru_cache(maxsize=4096)
def _searchable(text: str) -> str:
    return f" {_NO_LETTER.sub(' ', normalise(text))} "


def _needle(piece: str) -> str:
    return piece if _is_cjk(piece[0]) else f" {piece}"  # a stem stands at the beginning of a word


@lru_cache(maxsize=65536)
def _script_weight(piece: str) -> float:
    if not _is_cjk(piece[0]):
        return _GRAMMAR_WEIGHT if piece in _FUNCTION_WORDS else 1.0
    grammar = sum(1 for character in piece if character in _FUNCTION_CHARACTERS or _HIRAGANA.match(character))
    if grammar == len(piece):
        return _GRAMMAR_WEIGHT
    return _MIXED_WEIGHT if grammar else 1.0


def _is_cjk(character: str) -> bool:
    return _CJK_CHARACTER.match(character) is not None


def _stem(word: str) -> str:
    """Cut off the plural and long endings: "activation" and "activates" meet at "activa"."""
    if word in _FUNCTION_WORDS or not word.isascii():
        return word
    singular = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    return singular[:6]


_CJK_CHARACTER = re.compile(f"[{EAST_ASIAN}]")
_UNFITTED = Rarity()
