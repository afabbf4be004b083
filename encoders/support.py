"""Reads sentences of the passages together with a statement, and says how far these support it.

`classifiers.faithfulness.windows.gathered` chooses the sentences. The model attends from the statement to
them and never the other way, and judges each token of the statement (training/fit_support.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from encoders.runtime import OnnxModel

__all__ = ["EAST_ASIAN", "ENGLISH", "OnnxSupportModel", "SupportModel"]

_MODELS: Final = Path(__file__).parent / "models"
ENGLISH: Final = _MODELS / "support-minilm"
EAST_ASIAN: Final = _MODELS / "support-e5-small"  # Japanese and Chinese

LONGEST_WINDOW: Final = 600  # characters; with the statement it shares the tokens that the model reads
LONGEST_STATEMENT: Final = 400


class SupportModel(Protocol):
    """What judges statements by the sentences they are said to rest on."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes that the model was trained on."""
        ...

    @property
    def digest(self) -> str:
        """sha256 of the weights; readings of two models are never compared."""
        ...

    async def readings(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """Two logits for each (window, statement), shape (len(pairs), 2); the higher, the better supported.

        The first is of the mean, over the tokens of the statement, of how likely each is supported: low for
        what the window does not speak of, and for free wording. The second is of all of them together: low
        if one word is wrong. Neither is calibrated.

        Raises:
            EncoderError: if the model could not be run.
        """
        ...


class OnnxSupportModel:
    """A cross-encoder on the CPU."""

    def __init__(self, model: OnnxModel) -> None:
        self._model = model

    @classmethod
    def load(cls, folder: Path = ENGLISH, *, threads: int = 1) -> Self:
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

    async def readings(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        """Two logits for each (window, statement); the higher, the better supported."""
        read = [
            self._model.tokens(window[:LONGEST_WINDOW], statement[:LONGEST_STATEMENT])
            for window, statement in pairs
        ]
        return (await self._model.rows(read)).astype(np.float64)
