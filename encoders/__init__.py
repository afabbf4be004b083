"""The only door to neural inference: texts in, L2-normalised vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Encoded", "Encoder", "EncoderError", "EncoderIdentity", "OpenEncoder", "Vector", "encode_one"]

Vector = NDArray[np.float32]


class EncoderError(Exception):
    """No vectors could be made: the model is missing, broken or out of reach."""


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Which model made a vector. Vectors of two identities are never compared."""

    name: str
    dimensions: int
    digest: str  # sha256 of the weights, or what the endpoint says of itself
    languages: tuple[str, ...]  # ISO 639-1 codes that the model was trained on; () where nobody said

    def may_read(self, language: str) -> bool:
        """Whether the model reads a language for all that is known."""
        return not self.languages or language in self.languages


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text and its vector. One per question serves gate, cache and retrieval."""

    text: str
    vector: Vector  # shape (dimensions,), L2-normalised


class Encoder(Protocol):
    """What turns texts into vectors."""

    @property
    def identity(self) -> EncoderIdentity: ...

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised.

        Raises:
            EncoderError: if no vectors could be made.
        """
        ...


class OpenEncoder(Encoder, Protocol):
    """An encoder together with its threads or connections; whoever opened it closes it."""

    async def close(self) -> None:
        """Finish what was asked and refuse what comes after."""
        ...


async def encode_one(encoder: Encoder, text: str) -> Encoded:
    """A single text with its vector."""
    return Encoded(text, (await encoder.encode([text]))[0])
