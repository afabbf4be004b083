"""Many values a few at a time, as statements take a bounded number of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["in_parts"]

T = TypeVar("T")


def in_parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in order, at most `size` at a time; nothing where there are none."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
