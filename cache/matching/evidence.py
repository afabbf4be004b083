"""What speaks for an entry: how near its phrasings are, and how far the next entry is behind.

The same numbers are computed one question at a time (serving) and a whole shelf at a time
(calibration); a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, Literal, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from cache.reading.tables import read_table
from cache.reading.text import Grams
from cache.reading.wording import WORDED
from encoders import Vector

__all__ = [
    "ENTRIES",
    "EVIDENCE",
    "PHRASINGS",
    "Answering",
    "Evidence",
    "Rereading",
    "Weighing",
    "Weights",
    "agreement",
    "covered",
    "log_odds",
    "spread",
]

EVIDENCE = (
    "best",
    "margin",
    "central",
    "central_margin",
    "characters",
    "characters_margin",
    "aligned",
    "covered",
)
"""The pieces of evidence, in the order of every array of them."""

ENTRIES = 6  # nearest entries that are looked at in full
PHRASINGS = 48  # nearest phrasings that are looked at: with ten an entry, at least the five nearest entries

Reading = Literal["meaning", "words", "characters"]

Numbers = NDArray[np.float64]
Share = TypeVar("Share", float, Numbers)
Logistic = TypeVar("Logistic", "Rereading", "Answering")

_UNSEEN = {"weight": 0.0, "from": 0.0, "to": 0.0}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one entry."""

    best: float  # cosine of its nearest phrasing
    margin: float  # best, less the best of any other entry; infinite where there is none
    central: float  # cosine of the mean of its phrasings; -inf if it is not among the nearest entries
    central_margin: float  # that, less the largest of any other entry
    characters: float  # the largest share of character n-grams in common with a phrasing
    characters_margin: float  # that, less the largest of any other entry
    aligned: float = 0.0  # the largest share of words with a partner in a phrasing (cache/reading/wording.py)
    covered: float = 0.0  # that no heavy word was exchanged in words that else are the same; see `covered`

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
class Rereading:
    """A logistic model over what the evidence says of an entry and a pair model of its best phrasing."""

    bias: float
    first: float  # weight of the log-odds by the evidence
    pair: float  # weight of the pair model's logit
    farthest: float  # logits count no more than this: the model is surer than it is right
    default_cut: float = 1.0  # of shelves that can't be calibrated

    def probability(self, first: Numbers, pair: Numbers) -> Numbers:
        """How probable it is that the entry answers; two arrays of one shape."""
        odds = log_odds(first).clip(-self.farthest, self.farthest)
        logit = self.bias + self.first * odds + self.pair * np.clip(pair, -self.farthest, self.farthest)
        return np.asarray(1.0 / (1.0 + np.exp(-logit)))


@dataclass(frozen=True, slots=True)
class Answering:
    """A logistic model over a score and what a model of answers reads in the entry."""

    bias: float
    score: float  # weight of the log-odds of the score so far
    answer: float  # weight of the model's logit
    farthest: float  # log-odds and logits count no more than this
    doubted_from: float  # scores from here on, and below `sure_from`, are read
    sure_from: float

    def doubted(self, scores: Numbers) -> NDArray[np.intp]:
        """The places of the scores that a reading may change."""
        return np.flatnonzero((scores >= self.doubted_from) & (scores < self.sure_from))

    def probability(self, scores: Numbers, logits: Numbers) -> Numbers:
        """How probable it is that the entry answers; two arrays of one shape."""
        odds = log_odds(scores).clip(-self.farthest, self.farthest)
        logit = self.bias + self.score * odds + self.answer * logits.clip(-self.farthest, self.farthest)
        return np.asarray(1.0 / (1.0 + np.exp(-logit)))


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted weights.

    `meaning` where the encoder knows the language, `words` where there are tables of its words, too, and
    `characters` where neither is so.
    """

    readings: Mapping[Reading, Weighing]
    default_cuts: Mapping[Reading, float]
    rereadings: Mapping[Reading, Rereading]  # where a pair model knows the language
    answering: Answering | None = None  # where a model reads the answers, too
    digest: str = ""  # of the table: scores by other weights are other scores

    @classmethod
    def load(cls) -> Self:
        """The weights that ship, made by training/fit_matching.py."""
        return cls.from_table(read_table("weights.yaml", "cache.matching"))

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """The weights written as a mapping per reading, its rereading among them."""
        readings = {reading: table[reading] for reading in get_args(Reading) if reading in table}
        return cls(
            {reading: _weighing(part) for reading, part in readings.items()},
            {reading: float(part["default_cut"]) for reading, part in readings.items()},
            {
                reading: _logistic(Rereading, part["rereading"])
                for reading, part in readings.items()
                if "rereading" in part
            },
            _logistic(Answering, table["answering"]) if "answering" in table else None,
            sha256(repr(table).encode()).hexdigest(),
        )

    def reading(self, language: str, known: tuple[str, ...]) -> Reading:
        """Which evidence to trust for a language, given those that the encoder knows."""
        if language not in known:
            return "characters"
        return "words" if language in WORDED and "words" in self.readings else "meaning"


def agreement(some: Grams, others: Grams) -> float:
    """The share of character n-grams in common (Dice): 0 to 1."""
    both = len(some) + len(others)
    return 2 * len(some & others) / both if both else 0.0


def spread(vectors: Vector) -> float:
    """The length of the mean of unit vectors: 1 if all are the same, less the farther they are apart."""
    return float(np.linalg.norm(vectors.mean(axis=0)))


def covered(characters: Share, unaligned: Share) -> Share:
    """1 less the weight of the heaviest word without a partner, as far as the texts share their characters.

    Who copies a question and changes one word asks something else; who rephrases it leaves many without
    a partner.
    """
    return 1.0 - characters * unaligned


def log_odds(probabilities: Numbers) -> Numbers:
    """The logits of probabilities; those of 0 and 1 are finite."""
    kept = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(kept / (1 - kept)))


def _logistic(of: type[Logistic], part: Mapping[str, Any]) -> Logistic:
    return of(**{field.name: float(part[field.name]) for field in fields(of)})


def _weighing(part: Mapping[str, Any]) -> Weighing:
    rows = [part["evidence"].get(name, _UNSEEN) for name in EVIDENCE]
    return Weighing(
        bias=float(part["bias"]),
        weights=np.array([row["weight"] for row in rows]),
        low=np.array([row.get("from", -math.inf) for row in rows]),
        high=np.array([row.get("to", math.inf) for row in rows]),
    )
