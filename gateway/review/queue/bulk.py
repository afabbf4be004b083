"""One change to many tickets: each by itself, so that one that is refused keeps nobody else back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from gateway.errors import Conflict, InvalidRequest, NotFound

__all__ = ["Done", "each"]


@dataclass(frozen=True, slots=True)
class Done:
    """The tickets that were changed, and those that were not."""

    changed: tuple[str, ...]
    refused: tuple[str, ...]


async def each(ids: Sequence[str], change: Callable[[str], Awaitable[object]]) -> Done:
    """Change one ticket after the other; one that is held by another, gone or not fit is left."""
    changed, refused = [], []
    for id_ in ids:
        try:
            await change(id_)
            changed.append(id_)
        except (Conflict, InvalidRequest, NotFound):
            refused.append(id_)
    return Done(tuple(changed), tuple(refused))
