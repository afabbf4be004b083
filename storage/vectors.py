"""The index of vectors behind one protocol: Qdrant Edge in process, or a Qdrant server."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from encoders import Vector

__all__ = [
    "Found",
    "IndexInUse",
    "IndexMismatch",
    "IndexUnavailable",
    "Payload",
    "Point",
    "VectorIndex",
    "Where",
]

Payload = Mapping[str, str | int]
Where = Mapping[str, str | int | tuple[str, ...]]
"""Conditions on a payload: each key has this value, or one of these."""


class IndexUnavailable(Exception):  # noqa: N818 - errors are named as facts
    """The index could not be asked or written. Never the same as "nothing found"."""


class IndexInUse(IndexUnavailable):
    """Another process has the embedded index to itself."""


class IndexMismatch(IndexUnavailable):
    """The vectors in the index were made by another model; `sekisho reindex` makes new ones."""


@dataclass(frozen=True, slots=True)
class Point:
    """One text in the index: its dense vector, its words (for BM25) and what to filter by."""

    id: str  # a UUID
    vector: Vector
    text: str
    payload: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A point near the query. Scores of `nearest` are cosines, scores of `matching` are BM25."""

    id: str
    score: float
    text: str
    payload: Payload


class VectorIndex(Protocol):
    """A named collection of points of one encoder.

    `where` keeps the points whose payload meets every condition. Every method
    raises `IndexUnavailable` when the store cannot be asked.
    """

    async def upsert(self, points: Sequence[Point], /) -> None: ...

    async def delete(self, *, where: Where) -> None: ...

    async def remove(self, ids: Collection[str], /) -> None:
        """Remove the points with these ids; one that is not there does no harm."""
        ...

    async def nearest(self, vector: Vector, /, *, where: Where, limit: int) -> list[Found]:
        """By cosine of the dense vectors, best first."""
        ...

    async def matching(self, text: str, /, *, where: Where, limit: int) -> list[Found]:
        """By BM25 over words (English) and character-aware tokens (Japanese, Chinese), best first."""
        ...

    async def ids(self) -> set[str]:
        """The ids of all points, to compare with SQL."""
        ...

    async def clear(self) -> None: ...

    async def close(self) -> None: ...
