"""Entries and an encoder for the tests of the cache."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from cache.matching.evidence import Weights
from cache.reading.text import words
from cache.store.content import Content
from encoders import EncoderIdentity, Vector

DIMENSIONS = 64

_EVIDENCE = {
    "best": {"weight": 8.0, "from": 0.0, "to": 1.0},
    "margin": {"weight": 5.0, "from": -0.2, "to": 0.2},
    "characters": {"weight": 4.0, "from": 0.0, "to": 1.0},
    "characters_margin": {"weight": 0.0, "from": -0.2, "to": 0.2},
}
_READING = {"bias": -8.0, "default_cut": 0.85, "evidence": _EVIDENCE}
WEIGHTS = Weights.from_table({"meaning": _READING, "characters": _READING})
"""Fixed weights, so that no test depends on what the shipped ones were fitted on."""


class WordEncoder:
    """Near are texts that share words: enough to tell entries apart, and the same on every machine."""

    def __init__(self, languages: tuple[str, ...] = ("en",)) -> None:
        self.identity = EncoderIdentity("words", DIMENSIONS, "words@1", languages)

    async def encode(self, texts: Sequence[str], /) -> Vector:
        vectors = np.stack([self._vector(text) for text in texts])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def _vector(self, text: str) -> Vector:
        vector = np.full(DIMENSIONS, 0.01, np.float32)
        for word in words(text.casefold()):
            seeded = np.random.default_rng(zlib.crc32(word.encode()))
            vector += seeded.standard_normal(DIMENSIONS).astype(np.float32)
        return vector


def content(*phrasings: str, **changed: Any) -> Content:
    """What a person wrote, with everything that a test does not care about."""
    written: dict[str, Any] = {
        "kind": "ground_truth",
        "language": "en",
        "phrasings": phrasings or ("How do I reset my password?",),
        "answer": "Press “Forgot password”.",
    }
    return Content(**(written | changed))
