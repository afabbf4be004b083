"""What runs in the background for as long as the gateway does. A loop that breaks is seen, and begins again.

A loop names the errors that it expects, and goes on after them; most do a piece of work `every` so often.
What it did not expect ends up here: it is logged and counted, and the loop begins again after a wait that
doubles. Meanwhile the gateway serves on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from time import monotonic

import structlog
from prometheus_client import Counter

from gateway.recording.failures import log_failure

__all__ = ["Background", "Loop", "every"]

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
STEADY_S = 2 * LONGEST_WAIT_S  # a loop that has not broken for so long is well again

Loop = Callable[[], Awaitable[None]]


async def every(
    seconds: float,
    work: Callable[[], Awaitable[object]],
    *,
    expected: tuple[type[Exception], ...],
    event: str,
    log: str,
    first: bool = True,
    again_s: float | None = None,
    told: Callable[[Exception], str] = str,
) -> None:
    """Do the work every so often; an error that it expects is told, and the next turn tries again.

    Args:
        event, log: what is told with the error, and to which log.
        first: whether the first turn comes at once.
        again_s: how soon the turn after an error comes, where that is sooner.
        told: what the log may hold of an error.
    """
    if not first:
        await asyncio.sleep(seconds)
    while True:
        wait_s = seconds
        try:
            await work()
        except expected as exc:
            structlog.get_logger(log).warning(event, error=told(exc))
            wait_s = seconds if again_s is None else again_s
        await asyncio.sleep(wait_s)


class Background:
    """Keeps loops running, and says which of them don't keep up."""

    def __init__(self, broken: Counter) -> None:
        """`broken` counts by the name of the loop."""
        self._broken = broken
        self._broke_at: dict[str, float] = {}  # seconds of the monotonic clock
        self._log = structlog.get_logger("sekisho.background")

    @property
    def failing(self) -> tuple[str, ...]:
        """The loops that broke within the last `STEADY_S`, by name."""
        return tuple(loop for loop, at in self._broke_at.items() if monotonic() - at < STEADY_S)

    @asynccontextmanager
    async def running(self, name: str, loop: Loop) -> AsyncIterator[None]:
        """The loop runs inside; at the end it is cancelled and may finish what it has to."""
        self._broken.labels(name)  # begins at zero: else Prometheus sees no increase with the first one
        task = asyncio.create_task(self._keep_running(name, loop), name=name)
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _keep_running(self, name: str, loop: Loop) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            began = monotonic()
            try:
                return await loop()
            except Exception as exc:  # noqa: BLE001 - the one boundary of loops: it becomes an alarm
                self._broke_at[name] = monotonic()
                self._broken.labels(name).inc()
                log_failure(self._log, "loop broke", exc, loop=name)
            if _is_ending():
                return None
            if monotonic() - began > STEADY_S:
                wait_s = FIRST_WAIT_S
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)


def _is_ending() -> bool:
    """Whether the loop was told to end, and broke over that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
