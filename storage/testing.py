"""An index in memory that ranks exactly, for tests and trials. It keeps the contract of the real ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from encoders import EncoderIdentity, Vector
from storage.lexical import Lexicon, Words
from storage.points import best_first, checked_points, checked_vector, checked_where
from storage.vectors import Found, IndexUnavailable, Point, Where

__all__ = ["MemoryIndex"]


@dataclass(frozen=True, slots=True)
class _Stored:
    point: Point
    unit: Vector
    words: dict[int, float]


class MemoryIndex:
    """A `VectorIndex` without a store. After `fail`, every call says that the index is out."""

    def __init__(self, identity: EncoderIdentity) -> None:
        self._dimensions = identity.dimensions
        self._lexicon = Lexicon()
        self._stored: dict[str, _Stored] = {}
        self._failure: str | None = None

    def fail(self, reason: str | None = "switched off by a test") -> None:
        """Make every later call raise `IndexUnavailable`; None makes the index well again."""
        self._failure = reason

    async def upsert(self, points: Sequence[Point], /) -> None:
        """Add points, or replace those with the same id."""
        self._ensure_well()
        for point in checked_points(points, self._dimensions):
            norm = float(np.linalg.norm(point.vector))
            words = self._lexicon.document(point.text)
            unit = point.vector / norm if norm else point.vector
            self._stored[point.id] = _Stored(point, unit, dict(zip(words.indices, words.values, strict=True)))

    async def delete(self, *, where: Where) -> None:
        """Remove the points that meet every condition."""
        self._ensure_well()
        for stored in self._meeting(checked_where(where)):
            del self._stored[stored.point.id]

    async def remove(self, ids: Collection[str], /) -> None:
        """Remove the points with these ids."""
        self._ensure_well()
        for id_ in ids:
            self._stored.pop(id_, None)

    async def nearest(self, vector: Vector, /, *, where: Where, limit: int) -> list[Found]:
        """By cosine of the dense vectors, best first."""
        self._ensure_well()
        norm = float(np.linalg.norm(checked_vector(vector, self._dimensions))) or 1.0
        scored = [(float(stored.unit @ vector) / norm, stored) for stored in self._meeting(where)]
        return _top(scored, limit)

    async def matching(self, text: str, /, *, where: Where, limit: int) -> list[Found]:
        """By BM25, best first; points without a common word are left out."""
        self._ensure_well()
        rarity = self._rarity(self._lexicon.question(text))
        scored = [
            (sum(weight * stored.words.get(word, 0.0) for word, weight in rarity.items()), stored)
            for stored in self._meeting(where)
        ]
        return _top([(score, stored) for score, stored in scored if score > 0], limit)

    async def ids(self) -> set[str]:
        """The ids of all points."""
        self._ensure_well()
        return set(self._stored)

    async def clear(self) -> None:
        """Remove all points."""
        self._ensure_well()
        self._stored.clear()

    async def close(self) -> None:
        """Later calls say that the index is out."""
        self._failure = "it is closed"

    def _ensure_well(self) -> None:
        if self._failure is not None:
            raise IndexUnavailable(f"the index in memory cannot be used: {self._failure}")

    def _meeting(self, where: Where) -> list[_Stored]:
        return [
            stored
            for stored in self._stored.values()
            if all(_meets(stored.point.payload.get(key), wanted) for key, wanted in where.items())
        ]

    def _rarity(self, words: Words) -> dict[int, float]:
        frequency = Counter(word for stored in self._stored.values() for word in stored.words)
        total = sum(1 for stored in self._stored.values() if stored.words)
        return {
            word: math.log((total - frequency[word] + 0.5) / (frequency[word] + 0.5) + 1)
            for word in words.indices
        }


def _meets(value: str | int | None, wanted: str | int | tuple[str, ...]) -> bool:
    return value in wanted if isinstance(wanted, tuple) else value == wanted


def _top(scored: list[tuple[float, _Stored]], limit: int) -> list[Found]:
    found = [
        Found(stored.point.id, score, stored.point.text, stored.point.payload) for score, stored in scored
    ]
    return best_first(found)[: max(limit, 0)]
