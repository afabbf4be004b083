"""Reads two texts together and judges the pair: whether one answer serves two questions, or whether a turn
leans on those before it. A cross-encoder.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from encoders.memo import LARGEST_CALL
from encoders.runtime import OnnxModel
from languages.remembering import text_key

__all__ = ["MemoPairModel", "OnnxPairModel", "PairModel"]

LONGEST_TEXT: Final = 600  # characters; the pair shares the tokens that the model reads


class PairModel(Protocol):
    """What judges pairs of texts."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that the model was trained on."""
        ...

    @property
    def digest(self) -> str:
        """sha256 of the weights; scores of two models are never compared."""
        ...

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """The logit that it is so, shape (len(pairs),).

        Raises:
            EncoderError: if the model could not be run.
        """
        ...


class OnnxPairModel:
    """A cross-encoder on the CPU: both texts in one sequence, attention between all their tokens.

    Source: Nogueira and Cho, Passage Re-ranking with BERT, arXiv:1901.04085.
    """

    def __init__(self, model: OnnxModel) -> None:
        self._model = model

    @classmethod
    def load(cls, folder: Path, *, threads: int = 1) -> Self:
        """Read model.onnx, tokenizer.json and identity.json of a folder, and check them by their digests.

        Raises:
            EncoderError: naming the file that is missing or broken.
        """
        return cls(OnnxModel.load(folder, threads=threads))

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that the model was trained on."""
        return self._model.card.languages

    @property
    def digest(self) -> str:
        """sha256 of the weights."""
        return self._model.card.digest

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """The logit that it is so, shape (len(pairs),)."""
        read = [self._model.tokens(one[:LONGEST_TEXT], other[:LONGEST_TEXT]) for one, other in pairs]
        return (await self._model.rows(read))[:, 0].astype(np.float64)


class MemoPairModel:
    """A pair model that remembers the `size` pairs read last: a repeated question costs no reading."""

    def __init__(self, inner: PairModel, size: int) -> None:
        self._inner = inner
        self._size = size
        self._known: OrderedDict[bytes, float] = OrderedDict()

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that the inner model was trained on."""
        return self._inner.languages

    @property
    def digest(self) -> str:
        """sha256 of the inner model's weights."""
        return self._inner.digest

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """The logit that it is so, shape (len(pairs),)."""
        if len(pairs) > LARGEST_CALL:  # a calibration, which would wash the questions out
            return await self._inner.scores(pairs)
        keys = [_key(*pair) for pair in pairs]
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}
        found = {key: self._known[key] for key in keys if key not in new}
        if new:
            found |= zip(new, map(float, await self._inner.scores([*new.values()])), strict=True)
        for key in found:
            self._known[key] = found[key]
            self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return np.array([found[key] for key in keys])


def _key(one: str, other: str) -> bytes:
    return text_key(f"{len(one)} {one}{other}")
