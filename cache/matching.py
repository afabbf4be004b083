"""Whether a verified entry may answer a question. Pure functions; no store, no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cache.entries import Entry

__all__ = ["Hit", "Match", "Miss", "NearMiss", "Tier"]

Tier = Literal["exact", "vector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """The entry answers the question."""

    entry: Entry
    phrasing: str  # the stored phrasing that matched best
    tier: Tier
    score: float  # 1.0 for the exact tier, else the score that passed the cut
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """An entry is close, and something says that it asks something else."""

    entry: Entry
    phrasing: str
    score: float
    reason: str  # which guard or score kept it back, and what it saw


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Nothing close. `lookup_failed` tells a dead index from an empty one."""

    reason: str
    lookup_failed: bool = False


Match = Hit | NearMiss | Miss
