"""Reads two questions together and says how likely one answer serves both: a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from encoders.runtime import OnnxModel

__all__ = ["SHIPPED", "OnnxPairModel", "PairModel"]

SHIPPED: Final = Path(__file__).parent / "models" / "question-pairs-minilm"

LONGEST_QUESTION: Final = 600  # characters; the pair shares the tokens that the model reads


class PairModel(Protocol):
    """What judges pairs of questions."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that the model was trained on."""
        ...

    @property
    def digest(self) -> str:
        """sha256 of the weights; scores of two models are never compared."""
        ...

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """The logit that one answer serves both questions, shape (len(pairs),).

        Raises:
            EncoderError: if the model could not be run.
        """
        ...


class OnnxPairModel:
    """A cross-encoder on the CPU: both questions in one sequence, attention between all their tokens.

    Source: Nogueira and Cho, Passage Re-ranking with BERT, arXiv:1901.04085.
    """

    def __init__(self, model: OnnxModel) -> None:
        self._model = model

    @classmethod
    def load(cls, folder: Path = SHIPPED, *, threads: int = 1) -> Self:
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
        """The logit that one answer serves both questions, shape (len(pairs),)."""
        read = [self._model.tokens(one[:LONGEST_QUESTION], other[:LONGEST_QUESTION]) for one, other in pairs]
        return (await self._model.rows(read))[:, 0].astype(np.float64)
