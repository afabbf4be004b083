"""PostgreSQL's connections, which are given up soon when the server does not answer.

Another module than the rest, as its driver is an extra.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it ships no types

from storage.sqlite import CLOSE_S

__all__ = ["connect"]


async def connect(*args: Any, **options: Any) -> Any:
    """A connection, as `asyncpg.connect` makes one."""
    return await asyncpg.connect(*args, connection_class=_Connection, **options)


class _Connection(asyncpg.Connection):  # type: ignore[misc]  # as above
    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - asyncpg's own
        """Say goodbye, which also ends what the server still does; one that does not answer is left."""
        with suppress(TimeoutError):
            await super().close(timeout=CLOSE_S)
