"""An encoder for tests: no model, always the same vectors, and texts that share characters are near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Final
from zlib import crc32

import numpy as np

from encoders import EncoderIdentity, Vector

__all__ = ["HashingEncoder"]

START, END = "\x02", "\x03"
SHORTEST: Final = 1  # single characters carry meaning in Japanese and Chinese
LONGEST: Final = 4


class HashingEncoder:
    """Counts of character n-grams, hashed into a vector. Nearness is shared spelling, not meaning."""

    def __init__(self, dimensions: int = 256) -> None:
        digest = sha256(f"hashing {SHORTEST}-{LONGEST}".encode()).hexdigest()
        self._identity = EncoderIdentity("hashing", dimensions, digest, ("en", "ja", "zh"))

    @property
    def identity(self) -> EncoderIdentity:
        """Which model made the vectors."""
        return self._identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised."""
        vectors = np.zeros((len(texts), self._identity.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for gram, count in _grams(text.casefold()).items():
                hashed = crc32(gram.encode("utf-8", "replace"))
                row[hashed % len(row)] += (1 - 2 * (hashed >> 31)) * len(gram) * count**0.5
            norm = np.linalg.norm(row)
            row[:] = row / norm if norm else np.eye(1, len(row), dtype=np.float32)[0]
        return vectors

    async def close(self) -> None:
        """Nothing to close."""


def _grams(text: str) -> Counter[str]:
    """Character n-grams, with marks at both ends so that an empty text has one too."""
    marked = f"{START}{text}{END}"
    return Counter(
        marked[at : at + size]
        for size in range(SHORTEST, LONGEST + 1)
        for at in range(len(marked) - size + 1)
    )
