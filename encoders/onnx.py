"""The encoders we ship, and any other made the same way: ONNX Runtime and a tokenizer, nothing heavier."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, Self

from anyio import to_thread

from encoders import EncoderIdentity, Vector
from encoders.runtime import OnnxModel, Tokens

__all__ = ["SHIPPED", "OnnxEncoder"]

SHIPPED: Final = Path(__file__).parent / "models" / "all-MiniLM-L6-v2"

INLINE_CHARACTERS: Final = 4_096  # tokenized where we are: about 1 ms, less than going to a thread and back


class OnnxEncoder:
    """Texts to vectors on the CPU. Concurrent calls of one event loop share inferences."""

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        card = model.card
        self._identity = EncoderIdentity(card.name, card.dimensions, card.digest, card.languages)

    @classmethod
    def load(cls, folder: Path = SHIPPED, *, threads: int = 1) -> Self:
        """Read model.onnx, tokenizer.json and identity.json of a folder, and check them by their digests.

        Raises:
            EncoderError: naming the file that is missing or broken.
        """
        return cls(OnnxModel.load(folder, threads=threads))

    @property
    def identity(self) -> EncoderIdentity:
        """Which model made the vectors."""
        return self._identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised. Of long texts the beginning counts."""
        if sum(map(len, texts)) <= INLINE_CHARACTERS:
            return await self._model.rows(self._tokenize(texts))
        return await self._model.rows(await to_thread.run_sync(partial(self._tokenize, texts)))

    async def close(self) -> None:
        """Finish what was asked and refuse what comes after."""
        await self._model.close()

    def _tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        return [self._model.tokens(text) for text in texts]
