"""The models that come with the package: MiniLM for English, multilingual E5 for Japanese and Chinese."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from encoders.by_script import ByScript, PairsByScript
from encoders.onnx import OnnxEncoder
from encoders.pairs import OnnxPairModel

__all__ = [
    "ANSWERING",
    "EAST_ASIAN",
    "EAST_ASIAN_PAIRS",
    "LATIN",
    "LATIN_PAIRS",
    "LEANING",
    "SUPPORT",
    "load_shipped",
    "load_shipped_answering",
    "load_shipped_leaning",
    "load_shipped_pairs",
    "load_shipped_support",
]

_MODELS: Final = Path(__file__).parent / "models"
LATIN: Final = _MODELS / "all-MiniLM-L6-v2"
EAST_ASIAN: Final = _MODELS / "multilingual-e5-small"
LATIN_PAIRS: Final = _MODELS / "question-pairs-minilm"
EAST_ASIAN_PAIRS: Final = _MODELS / "question-pairs-e5"
LEANING: Final = _MODELS / "leaning-e5"
SUPPORT: Final = _MODELS / "support-e5"
ANSWERING: Final = _MODELS / "answering-e5"


def load_shipped(*, threads: int = 1) -> ByScript:
    """Both encoders, checked by their digests.

    Raises:
        EncoderError: naming the file that is missing or broken.
    """
    return ByScript(OnnxEncoder.load(LATIN, threads=threads), OnnxEncoder.load(EAST_ASIAN, threads=threads))


def load_shipped_pairs() -> PairsByScript:
    """Both models that read two questions together, checked by their digests.

    Raises:
        EncoderError: naming the file that is missing or broken.
    """
    return PairsByScript(OnnxPairModel.load(LATIN_PAIRS), OnnxPairModel.load(EAST_ASIAN_PAIRS))


def load_shipped_leaning() -> OnnxPairModel:
    """The model that reads a turn with those before it, of any language, and says whether it leans on them.

    Raises:
        EncoderError: naming the file that is missing or broken.
    """
    return OnnxPairModel.load(LEANING)


def load_shipped_support() -> OnnxPairModel:
    """The model that reads sentences with a statement, of any language, and says whether they support it.

    Raises:
        EncoderError: naming the file that is missing or broken.
    """
    return OnnxPairModel.load(SUPPORT)


def load_shipped_answering() -> OnnxPairModel:
    """The model that reads a question with a sentence of a document and says whether it answers it.

    Raises:
        EncoderError: naming the file that is missing or broken.
    """
    return OnnxPairModel.load(ANSWERING)
