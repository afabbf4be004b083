"""Reads a window of a passage and a statement, and says how likely the one supports the other.

    model = OnnxPairModel.load(ENGLISH)
    logits = await model.scores([(window, statement), ...])     # above 0: supported

`windows.window_around` of the faithfulness package makes windows as the model knows them. Citation marks and
line breaks are taken out of a statement first. The model attends from the statement to the window and never
the other way; what it gives out is a logit, not a calibrated probability.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["EAST_ASIAN", "ENGLISH"]

_MODELS: Final = Path(__file__).parent / "models"
ENGLISH: Final = _MODELS / "support-minilm"
EAST_ASIAN: Final = _MODELS / "support-e5-small"  # Japanese and Chinese
