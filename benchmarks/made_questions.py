"""Many questions, of the halves of few: the first words of one and the last words of another.

A vector is the sum of those of both halves, so that a million take no longer to encode than the few. Among
60,000 of them a question's neighbours lie much as among the encoder's own vectors of these texts (cosine of
the 48th nearest .54 and .51, local dimension 22 and 16; random vectors: .16 and 122). Texts are as long as
real ones, and their words as common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Self

import numpy as np

from encoders import EncoderIdentity, Vector
from encoders.onnx import OnnxEncoder
from training.command import rows

__all__ = ["MadeQuestions", "RandomVectors"]

FILES = {
    "gate/clinc150_train.jsonl": "text",
    "cache/faq/banking77.traffic.jsonl": "text",
    "cache/faq/clinc150.traffic.jsonl": "text",
    "qa/squad2.jsonl": "question",
}
SHORTEST = 4  # words of a question that is cut
BETWEEN = " | "  # the halves; nothing that compares or cuts texts looks at it
DIMENSIONS = 384


@dataclass(frozen=True)
class MadeQuestions:
    """Halves and their vectors; an encoder of what is made of them."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    vectors: Vector  # of the first halves, then of the last

    identity = EncoderIdentity("halves", DIMENSIONS, "0" * 64, ("en",))

    @classmethod
    async def read(cls, data: Path) -> Self:
        """Cut the real questions of the development data, and encode the halves."""
        texts = dict.fromkeys(row[key] for name, key in FILES.items() for row in rows(data / name))
        words = [text.split() for text in texts]
        long = [some for some in words if len(some) >= SHORTEST]
        first = tuple(dict.fromkeys(" ".join(some[: len(some) // 2]) for some in long))
        last = tuple(dict.fromkeys(" ".join(some[len(some) // 2 :]) for some in long))
        return cls(first, last, await OnnxEncoder.load().encode([*first, *last]))

    def one(self, draw: np.random.Generator, last: int | None = None) -> str:
        """A question, with a given last half."""
        at = int(draw.integers(len(self.last))) if last is None else last
        return f"{self.first[draw.integers(len(self.first))]}{BETWEEN}{self.last[at]}"

    def phrasings(self, draw: np.random.Generator, number: int) -> tuple[str, ...]:
        """Of one entry: they end alike."""
        last = int(draw.integers(len(self.last)))
        return tuple(self.one(draw, last) for _ in range(number))

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), 384), L2-normalised; other texts by what a hash of them points at."""
        summed = self.vectors[np.array([self._rows(text) for text in texts])].sum(axis=1)
        return np.asarray(summed / np.linalg.norm(summed, axis=1, keepdims=True), dtype=np.float32)

    def _rows(self, text: str) -> tuple[int, int]:
        first, _, last = text.partition(BETWEEN)
        known = self._row.get(first), self._row.get("…" + last)
        if known[0] is not None and known[1] is not None:
            return known[0], known[1]
        drawn = np.random.default_rng(_seed(text)).integers(len(self.first), size=2)
        return int(drawn[0]), int(drawn[1])

    @cached_property
    def _row(self) -> dict[str, int]:
        return {text: at for at, text in enumerate((*self.first, *("…" + text for text in self.last)))}


class RandomVectors:
    """A vector for each text, always the same one: nothing is near anything, the hardest case for a graph."""

    identity = EncoderIdentity("random", DIMENSIONS, "0" * 64, ("en",))

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), 384), L2-normalised."""
        drawn = np.stack([np.random.default_rng(_seed(text)).normal(size=DIMENSIONS) for text in texts])
        return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def _seed(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")
