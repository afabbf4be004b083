"""Reads sentences of the passages and a statement, and says how likely the ones support the other.

    model = OnnxPairModel.load(ENGLISH)
    scores = await model.scores([(window, statement), ...])     # the higher, the better supported

`classifiers.faithfulness.windows.gathered` chooses the sentences; citation marks and line breaks are taken
out of the statement first. The model attends from the statement to the window and never the other way. It
gives the logit of the mean, over the tokens of the statement, of how likely each is supported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["EAST_ASIAN", "ENGLISH"]

_MODELS: Final = Path(__file__).parent / "models"
ENGLISH: Final = _MODELS / "support-minilm"
EAST_ASIAN: Final = _MODELS / "support-e5-small"  # Japanese and Chinese
