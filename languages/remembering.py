"""What is made of recent texts, kept in memory: bounded by the longest that askers may send."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, update_wrapper
from hashlib import blake2b
from typing import Any, Final, ParamSpec, TypeVar, cast

__all__ = ["LONGEST", "LONG_ONES", "remembered", "text_key"]

LONGEST: Final = 120  # characters of a usual question; what is read of a text grows with its length
LONG_ONES: Final = 64  # longer texts: those of the requests that are on their way

P = ParamSpec("P")
R = TypeVar("R")


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Remember what a function makes of its first argument, a text: of `most` usual ones and a few long ones.

    `functools.lru_cache` counts, so a thousand long texts would weigh what a million short ones do.
    """

    def remembering(read: Callable[P, R]) -> Callable[P, R]:
        usual, long = lru_cache(most)(read), lru_cache(LONG_ONES)(read)

        def of_text(text: Any, *others: Hashable) -> R:
            return usual(text, *others) if len(text) <= LONGEST else long(text, *others)

        return cast("Callable[P, R]", update_wrapper(of_text, read))

    return remembering


def text_key(text: str) -> bytes:
    """A hash, so that long texts are not kept, nor anything that a person wrote."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
