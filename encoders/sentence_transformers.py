"""Any sentence-transformers model, by name or folder. Needs the extra `models`; imported only when used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from encoders import EncoderError, EncoderIdentity, Vector
from encoders.batching import MicroBatcher
from encoders.tensors import digest

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["SentenceTransformersEncoder"]

LONGEST_TEXT: Final = 65_536  # characters; no model reads as much, and tokenizing 1 MB takes seconds
BATCH_CHARACTERS: Final = 4_096  # bounds how long a question waits for the batch before it


class SentenceTransformersEncoder:
    """Texts to vectors with PyTorch. Concurrent calls of one event loop share inferences."""

    def __init__(self, model: SentenceTransformer, identity: EncoderIdentity) -> None:
        self._model = model
        self._identity = identity
        self._batches: MicroBatcher[str] = MicroBatcher(self._infer, length=len, budget=BATCH_CHARACTERS)

    @classmethod
    def load(cls, model: str, *, device: str = "cpu", languages: tuple[str, ...] = ()) -> Self:
        """Read a folder, or a model of the Hugging Face hub, which is downloaded at first use.

        Raises:
            EncoderError: if the extra is not installed, or there is no such model or device.
        """
        if not model:
            raise EncoderError("encoder.model: expected the name or folder of a sentence-transformers model")
        loaded = _loaded(model, device)
        # One inference reports a width that the model card does not, and warms the model up.
        dimensions = _vectors(loaded, [""]).shape[1]
        name = Path(model).name if Path(model).is_dir() else model  # a folder that moves stays the same model
        return cls(loaded, EncoderIdentity(name, dimensions, digest(loaded), languages))

    @property
    def identity(self) -> EncoderIdentity:
        """Which model made the vectors."""
        return self._identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        """Vectors of shape (len(texts), dimensions), L2-normalised."""
        rows = await self._batches.submit(texts)
        return np.stack(rows) if rows else np.empty((0, self._identity.dimensions), np.float32)

    async def close(self) -> None:
        """Finish what was asked and refuse what comes after."""
        await self._batches.close()

    def _infer(self, batch: Sequence[str]) -> Vector:
        try:
            return _vectors(self._model, batch)
        except (RuntimeError, ValueError, IndexError) as error:
            raise EncoderError(f"inference with {self._identity.name} failed: {error}") from error


def _loaded(model: str, device: str) -> SentenceTransformer:
    try:
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        raise EncoderError(
            f"the model {model!r} needs sentence-transformers: pip install 'sekisho[models]'"
        ) from error
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(model, device=device)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise EncoderError(f"sentence-transformers can't load {model!r}: {error}") from error
    except AssertionError as error:  # PyTorch's word that it was built without CUDA
        raise EncoderError(f"encoder.device: {device} can't be used: {error}") from error
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _vectors(model: SentenceTransformer, texts: Sequence[str]) -> Vector:
    readable = [text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8") for text in texts]
    vectors: Vector = model.encode(readable, normalize_embeddings=True, show_progress_bar=False)
    return vectors.astype(np.float32, copy=False)
