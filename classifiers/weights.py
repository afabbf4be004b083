"""Logistic models whose weights stand in a readable file: one for words, one for characters."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from classifiers import ClassifierError

__all__ = ["probability", "read_weights"]

M = TypeVar("M")


def probability(bias: float, weights: Iterable[float], values: Iterable[float]) -> float:
    """The logistic function of a weighed sum, which is kept within ±30."""
    weighed = bias + sum(weight * value for weight, value in zip(weights, values, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, weighed))))


def read_weights(path: Path, read: Callable[[Mapping[str, Any]], M], *, script: str) -> tuple[M, M, str]:
    """The models for words (Latin script) and for characters (Japanese, Chinese), and the judge's name.

    Raises:
        ClassifierError: if the file is missing, unreadable, or not what `script` writes for this judge.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        words, characters = (read(data["models"][name]) for name in ("words", "characters"))
        return words, characters, str(data["judge"])
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise ClassifierError(f"{path}: expected the weights that {script} writes ({exc})") from exc
