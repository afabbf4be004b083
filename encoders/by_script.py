"""Two encoders as one: texts with Chinese or Japanese characters go to the one that can read them."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from encoders import EncoderIdentity, OpenEncoder, Vector

__all__ = ["ByScript"]

_EAST_ASIAN: Final = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]"
)


class ByScript:
    """Encodes each text with the model for its script.

    Vectors of the two models say nothing about each other: their cosines are those of unrelated texts,
    so a text in one script never finds one in the other.
    """

    def __init__(self, latin: OpenEncoder, east_asian: OpenEncoder) -> None:
        """Take two encoders of one width.

        Raises:
            ValueError: if their vectors have different dimensions.
        """
        one, other = latin.identity, east_asian.identity
        if one.dimensions != other.dimensions:
            raise ValueError(f"dimensions: {one.name} has {one.dimensions}, {other.name} {other.dimensions}")
        self._latin = latin
        self._east_asian = east_asian
        self._identity = EncoderIdentity(
            f"{one.name}+{other.name}",
            one.dimensions,
            hashlib.sha256(f"{one.digest} {other.digest}".encode()).hexdigest(),
            tuple(
                dict.fromkeys([*one.languages, *(name for name in other.languages if name in ("ja", "zh"))])
            ),
        )

    @property
    def identity(self) -> EncoderIdentity:
        """Both models as one; a change of either makes another identity."""
        return self._identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised."""
        east = np.array([_EAST_ASIAN.search(text) is not None for text in texts], bool)
        if not east.any():
            return await self._latin.encode(texts)
        if east.all():
            return await self._east_asian.encode(texts)
        vectors = np.empty((len(texts), self._identity.dimensions), np.float32)
        vectors[~east], vectors[east] = await asyncio.gather(
            self._latin.encode([text for text, is_east in zip(texts, east, strict=True) if not is_east]),
            self._east_asian.encode([text for text, is_east in zip(texts, east, strict=True) if is_east]),
        )
        return vectors

    async def close(self) -> None:
        """Close both."""
        await self._latin.close()
        await self._east_asian.close()
