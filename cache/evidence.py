"""What speaks for an entry: how near its phrasings are, and how far the next entry is behind.

The same numbers are computed one question at a time (serving) and a whole shelf at a time
(calibration); a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, Self

import numpy as np
import yaml
from numpy.typing import NDArray

from cache.text import Grams

__all__ = ["EVIDENCE", "Evidence", "Weighing", "Weights", "agreement"]

EVIDENCE = ("best", "second", "margin", "characters", "characters_margin")
"""The pieces of evidence, in the order of every array of them."""

Reading = Literal["meaning", "characters"]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one entry."""

    best: float  # cosine of its nearest phrasing
    second: float  # cosine of its second; its best if it has only one
    margin: float  # best, less the best of any other entry; infinite where there is none
    characters: float  # the largest share of character n-grams in common with a phrasing
    characters_margin: float  # that, less the largest of any other entry

    def as_array(self) -> Numbers:
        """The evidence as a row, in the order of `EVIDENCE`."""
        return np.array([getattr(self, name) for name in EVIDENCE])


@dataclass(frozen=True, slots=True)
class Weighing:
    """A logistic model over evidence: P = 1 / (1 + exp(-(bias + Σ weight · value)))."""

    bias: float
    weights: Numbers  # shape (len(EVIDENCE),)
    low: Numbers
    high: Numbers  # more evidence than this counts no more: a wide margin does not make a far entry near

    def probability(self, evidence: Numbers) -> Numbers:
        """How probable it is that the entry answers; evidence of shape (…, len(EVIDENCE))."""
        logit = np.clip(evidence, self.low, self.high) @ self.weights + self.bias
        return np.asarray(1.0 / (1.0 + np.exp(-logit)))


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted weights: `meaning` where the encoder knows the language, else `characters`."""

    readings: Mapping[Reading, Weighing]
    default_cuts: Mapping[Reading, float]

    @classmethod
    def load(cls) -> Self:
        """The weights that ship, made by training/fit_matching.py."""
        text = resources.files("cache").joinpath("weights.yaml").read_text(encoding="utf-8")
        return cls.from_table(yaml.safe_load(text))

    @classmethod
    def from_table(cls, table: Mapping[Reading, Any]) -> Self:
        """The weights written as a mapping per reading."""
        return cls(
            {reading: _weighing(part) for reading, part in table.items()},
            {reading: float(part["default_cut"]) for reading, part in table.items()},
        )

    def reading(self, language: str, known: tuple[str, ...]) -> Reading:
        """Which evidence to trust for a language, given those that the encoder knows."""
        return "meaning" if language in known else "characters"


def agreement(some: Grams, others: Grams) -> float:
    """The share of character n-grams in common (Dice): 0 to 1."""
    both = len(some) + len(others)
    return 2 * len(some & others) / both if both else 0.0


def _weighing(part: Mapping[str, Any]) -> Weighing:
    rows = [part["evidence"][name] for name in EVIDENCE]
    return Weighing(
        bias=float(part["bias"]),
        weights=np.array([row["weight"] for row in rows]),
        low=np.array([row.get("from", -math.inf) for row in rows]),
        high=np.array([row.get("to", math.inf) for row in rows]),
    )
