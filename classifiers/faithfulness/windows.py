"""The part of a passage that a cross-encoder reads with a statement: the best sentence and its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["LONGEST_WINDOW", "reach", "window_around"]

LONGEST_WINDOW: Final = {"en": 340, "ja": 150, "zh": 120}  # characters, about 90 tokens


def window_around(sentences: Sequence[str], best: int, language: str) -> str:
    """One sentence of a passage, then the one after and the one before it as far as they fit.

    What the support model was trained on (training/support_groups.py); `sentences` are of one passage.
    """
    start, end = reach(sentences, best, language)
    space = " " if language == "en" else ""
    return space.join(" ".join(sentence.split()) for sentence in sentences[start:end])


def reach(sentences: Sequence[str], best: int, language: str) -> tuple[int, int]:
    """From which sentence to which, exclusive, the window goes."""
    start, end, size = best, best + 1, len(sentences[best])
    for _ in range(2):
        if end < len(sentences) and size + len(sentences[end]) <= LONGEST_WINDOW[language]:
            size += len(sentences[end])
            end += 1
        if start and size + len(sentences[start - 1]) <= LONGEST_WINDOW[language]:
            start -= 1
            size += len(sentences[start])
    return start, end
