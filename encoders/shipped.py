"""The encoder that comes with the package: MiniLM for English, multilingual E5 for Japanese and Chinese."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from encoders.by_script import ByScript
from encoders.onnx import OnnxEncoder

__all__ = ["EAST_ASIAN", "LATIN", "load_shipped"]

_MODELS: Final = Path(__file__).parent / "models"
LATIN: Final = _MODELS / "all-MiniLM-L6-v2"
EAST_ASIAN: Final = _MODELS / "multilingual-e5-small"


def load_shipped(*, threads: int = 1) -> ByScript:
    """Both models, checked by their digests.

    Raises:
        EncoderError: naming the file that is missing or broken.
    """
    return ByScript(OnnxEncoder.load(LATIN, threads=threads), OnnxEncoder.load(EAST_ASIAN, threads=threads))
