"""Remembers what was found for a question while it is answered: gate and cache ask the same of the index."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from encoders import Encoded, Vector

__all__ = ["Looks"]

T = TypeVar("T")

ON_THEIR_WAY = 1_024  # looks, up to three for a question and shelf; an older one is made again


class Looks:
    """Remembers by the vector object, which is a new one for every request.

    A later question, even in the same words, brings another object and is looked up again: an entry
    that was paused in between is not served from here.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str, tuple[str, ...]], tuple[Vector, object]] = OrderedDict()

    async def once(
        self, kind: str, question: Encoded, shelf: tuple[str, ...], look: Callable[[], Awaitable[T]]
    ) -> T:
        """What `look` finds on a shelf (tenant, language, group), or found before for this very question."""
        key = (id(question.vector), kind, shelf)
        kept = self._kept.get(key)
        if kept is not None:  # the vector is kept, too, so its id can't have passed to another
            return cast("T", kept[1])
        found = await look()
        self._kept[key] = (question.vector, found)
        if len(self._kept) > ON_THEIR_WAY:
            self._kept.popitem(last=False)
        return found
