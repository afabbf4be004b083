"""Models that label a text instead of embedding it: guards, moderation, classification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Labeller"]


class Labeller(Protocol):
    """What says how far each of its labels holds for a text."""

    @property
    def name(self) -> str:
        """The model, with its version: verdicts of two versions can be told apart."""
        ...

    async def label(self, text: str, /) -> Mapping[str, float]:
        """0..1 for each label, over the whole text.

        Raises:
            EncoderError: if it could not be labelled, or not to its end.
        """
        ...
