"""Two models as one: texts with Chinese or Japanese characters go to the one that can read them."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from encoders import EncoderIdentity, OpenEncoder, Vector
from encoders.pairs import PairModel
from languages.scripts import EAST_ASIAN
from languages.spelling import one_spelling

__all__ = ["ByScript", "PairsByScript"]

_EAST_ASIAN: Final = re.compile(f"[{EAST_ASIAN}]")


class ByScript:
    """Encodes each text with the model for its script, a Japanese or Chinese one in one spelling.

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
            _of_both(one.digest, other.digest),
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
        east = _are_east_asian(texts)
        if not east.any():
            return await self._latin.encode(texts)
        texts = [one_spelling(text) if is_east else text for text, is_east in zip(texts, east, strict=True)]
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


class PairsByScript:
    """Reads each pair with the model for its script: if one of two texts is East Asian, the pair is."""

    def __init__(self, latin: PairModel, east_asian: PairModel) -> None:
        self._latin = latin
        self._east_asian = east_asian

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that either model was trained on."""
        return tuple(dict.fromkeys([*self._latin.languages, *self._east_asian.languages]))

    @property
    def digest(self) -> str:
        """sha256 of both digests."""
        return _of_both(self._latin.digest, self._east_asian.digest)

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """The logit that it is so, shape (len(pairs),)."""
        east = _are_east_asian([one + other for one, other in pairs])
        logits = np.empty(len(pairs))
        for there, model in ((~east, self._latin), (east, self._east_asian)):
            if there.any():
                logits[there] = await model.scores([pairs[int(row)] for row in np.flatnonzero(there)])
        return logits


def _are_east_asian(texts: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([_EAST_ASIAN.search(text) is not None for text in texts], bool)


def _of_both(digest: str, other: str) -> str:
    return hashlib.sha256(f"{digest} {other}".encode()).hexdigest()
