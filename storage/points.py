"""What every index checks and remembers, whichever store holds its points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import numpy as np

from encoders import EncoderIdentity, Vector
from storage.lexical import Lexicon
from storage.vectors import Found, IndexMismatch, Point, Where

__all__ = [
    "DENSE",
    "TEXT_KEY",
    "WORDS",
    "best_first",
    "checked_points",
    "checked_vector",
    "checked_where",
    "label",
    "refuse_mismatch",
]

DENSE: Final = "dense"
WORDS: Final = "words"
TEXT_KEY: Final = "_text"  # beside the payload; no payload key starts with an underscore
KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # dots and brackets would be paths to Qdrant


def label(identity: EncoderIdentity) -> dict[str, Any]:
    """What is stored beside the vectors, to refuse vectors and words of another making."""
    encoder = {"name": identity.name, "dimensions": identity.dimensions, "digest": identity.digest}
    return {"encoder": encoder, "words": Lexicon.scheme}


def refuse_mismatch(place: str, stored: Any, identity: EncoderIdentity) -> None:
    """Compare the stored label with that of the configured encoder.

    Raises:
        IndexMismatch: naming both, and the command that makes new vectors.
    """
    wanted = label(identity)
    if not isinstance(stored, dict) or not isinstance(stored.get("encoder"), dict):
        raise IndexMismatch(f"{place} does not say which encoder made it: run `sekisho reindex`")
    if stored["encoder"] != wanted["encoder"]:
        raise IndexMismatch(
            f"{place} was made by {_named(stored['encoder'])}, the configured encoder is "
            f"{_named(wanted['encoder'])}: run `sekisho reindex`"
        )
    if stored.get("words") != wanted["words"]:
        raise IndexMismatch(
            f"{place} cuts words by the scheme {stored.get('words')!r}, this release by "
            f"{wanted['words']!r}: run `sekisho reindex`"
        )


def checked_points(points: Sequence[Point], dimensions: int) -> list[Point]:
    """The points, with ids in canonical form.

    Raises:
        ValueError: naming the point and what was expected of it.
    """
    return [_checked(point, dimensions) for point in points]


def checked_vector(vector: Vector, dimensions: int, owner: str = "the query") -> Vector:
    """The vector, if it has the right size and only numbers.

    Raises:
        ValueError: saying what was expected.
    """
    if vector.shape != (dimensions,):
        raise ValueError(f"the vector of {owner} has shape {vector.shape}, expected ({dimensions},)")
    if not np.isfinite(vector).all():
        raise ValueError(f"the vector of {owner} holds values that are not finite numbers")
    return vector


def checked_where(where: Where) -> Where:
    """The conditions of a deletion.

    Raises:
        ValueError: if there are none; emptying an index is `clear`.
    """
    if not where:
        raise ValueError("delete needs at least one condition in `where`; to empty the index, use clear()")
    return where


def best_first(found: list[Found]) -> list[Found]:
    """By falling score; equal scores in the order of their ids, so that two backends agree."""
    return sorted(found, key=lambda point: (-point.score, point.id))


def _checked(point: Point, dimensions: int) -> Point:
    try:
        identifier = str(UUID(point.id))
    except ValueError as exc:
        raise ValueError(f"the id of a point must be a UUID, got {point.id!r}") from exc
    checked_vector(point.vector, dimensions, f"point {identifier}")
    for key in point.payload:
        if not KEY.fullmatch(key):
            raise ValueError(f"payload key {key!r} of point {identifier}: expected letters, digits and _")
    return Point(identifier, point.vector, point.text, point.payload)


def _named(encoder: dict[str, Any]) -> str:
    digest = str(encoder.get("digest", ""))[:12]
    return f"{encoder.get('name')} ({encoder.get('dimensions')} dimensions, {digest})"
