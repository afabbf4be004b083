"""JSON can name half of a character, as `\\ud83d` of an emoji that was cut in two; no UTF-8 can hold it.

Halves that meet are one character again, over two pieces of a stream, too; a half that is alone is U+FFFD.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any

__all__ = ["Pieces", "whole"]

MOST_LEVELS = 200  # far more than any reply has, and few enough to walk through by recursion


class Pieces:
    """A text that comes in pieces: a half at the end of one waits for the next."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")

    def add(self, piece: str, *, last: bool) -> str:
        """What can be told of the text by now and was not told before."""
        return self._decoder.decode(piece.encode("utf-16-le", "surrogatepass"), last)


def whole(value: Any, *, levels: int = MOST_LEVELS) -> Any:
    """A copy of a JSON value, in whose texts and names every character is whole.

    Raises:
        ValueError: it is nested more than `levels` deep.
    """
    if isinstance(value, str):
        return value if value.isascii() else Pieces().add(value, last=True)
    if not isinstance(value, Mapping | list):
        return value
    if levels == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [whole(item, levels=levels - 1) for item in value]
    return {whole(name): whole(inner, levels=levels - 1) for name, inner in value.items()}
