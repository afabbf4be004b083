"""Concurrent calls share inferences: dispatch at once when idle, gather while busy.

As many inferences run at a time as there are threads, one by default. While they run, calls gather; what runs
next takes from each of them in turn, so that a long import never holds up a question.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from encoders import EncoderError, Vector

__all__ = ["MicroBatcher"]

Item = TypeVar("Item")


@dataclass(eq=False, slots=True)
class _Call(Generic[Item]):
    """What one caller asked for: items not yet taken, rows so far."""

    waiting: deque[tuple[int, Item]]
    rows: list[Vector | None]
    done: asyncio.Future[list[Vector]]
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        self.missing = len(self.rows)

    def give(self, position: int, row: Vector) -> None:
        self.rows[position] = row
        self.missing -= 1
        if not self.missing and not self.done.done():
            self.done.set_result([row for row in self.rows if row is not None])

    def fail(self, error: BaseException) -> None:
        self.waiting.clear()
        if not self.done.done():
            self.done.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Taken(Generic[Item]):
    """An item on its way through the model."""

    call: _Call[Item]
    position: int
    item: Item
    length: int


class MicroBatcher(Generic[Item]):
    """Runs `infer` on batches gathered from concurrent calls of one event loop.

    `infer` blocks; it gets items of similar length and gives a row for each. `budget` bounds the summed
    length of what is taken at once, so it bounds how long a new call waits. Several `threads` call `infer`
    side by side: two cores do twice as much then, where one inference on both of them wastes half on waiting.
    """

    def __init__(
        self,
        infer: Callable[[Sequence[Item]], Vector],
        *,
        length: Callable[[Item], int],
        budget: int,
        threads: int = 1,
    ) -> None:
        self._infer = infer
        self._length = length
        self._budget = budget
        self._calls: deque[_Call[Item]] = deque()
        self._threads = threads
        self._running: list[asyncio.Task[None]] = []
        self._closed = False

    async def submit(self, items: Sequence[Item]) -> list[Vector]:
        """A row per item, in order.

        Raises:
            EncoderError: if the inference of one of these items failed, or the batcher is closed.
        """
        if self._closed:
            raise EncoderError("the encoder is closed")
        if not items:
            return []
        loop = asyncio.get_running_loop()
        # The shortest first: what is taken at once is of one length then, and nothing is padded.
        waiting = sorted(enumerate(items), key=lambda each: self._length(each[1]))
        call = _Call(deque(waiting), [None] * len(items), loop.create_future())
        self._calls.append(call)
        self._running = [each for each in self._running if not each.done()]
        for _ in range(min(len(items), self._threads - len(self._running))):
            # An empty context: a batch belongs to no single request and carries the trace of none.
            self._running.append(loop.create_task(self._drain(), context=Context()))
        return await call.done

    async def close(self) -> None:
        """Finish what was asked and refuse what comes after."""
        self._closed = True
        if self._running:
            await asyncio.wait(self._running)

    async def _drain(self) -> None:
        """Run until nobody waits. It ends by itself, so an idle batcher is bound to no event loop."""
        one_at_a_time = anyio.CapacityLimiter(1)  # a thread apart from those of files and databases
        taken: list[_Taken[Item]] = []
        try:
            while taken := self._take():
                for batch in _alike(taken):
                    await self._run(batch, one_at_a_time)
        finally:
            # Only a loop that shuts down gets here with calls left: they end with it.
            for call in [*self._calls, *(each.call for each in taken)]:
                call.done.cancel()
            self._calls.clear()

    def _take(self) -> list[_Taken[Item]]:
        """One item of each call in turn, up to the budget. A caller who left is passed over."""
        taken: list[_Taken[Item]] = []
        spent = 0
        while self._calls:
            call = self._calls.popleft()
            if call.done.done() or not call.waiting:
                continue
            length = self._length(call.waiting[0][1])
            if taken and spent + length > self._budget:
                self._calls.appendleft(call)
                break
            position, item = call.waiting.popleft()
            taken.append(_Taken(call, position, item, length))
            spent += length
            self._calls.append(call)
        return taken

    async def _run(self, batch: Sequence[_Taken[Item]], limiter: anyio.CapacityLimiter) -> None:
        """Give each call its rows. When a shared inference fails, each call is tried by itself."""
        present = [each for each in batch if not each.call.done.done()]
        if not present:
            return
        try:
            rows = await to_thread.run_sync(self._infer, [each.item for each in present], limiter=limiter)
            answered = list(zip(present, rows, strict=True))
        except Exception as error:  # noqa: BLE001 - becomes the error of the call that brought it
            await self._blame(present, error, limiter)
            return
        for each, row in answered:
            each.call.give(each.position, row)

    async def _blame(
        self, batch: Sequence[_Taken[Item]], error: Exception, limiter: anyio.CapacityLimiter
    ) -> None:
        """Fail the only call of the batch, or run its calls apart."""
        calls = list(dict.fromkeys(each.call for each in batch))
        if len(calls) == 1:
            failure = error if isinstance(error, EncoderError) else EncoderError(f"inference failed: {error}")
            failure.__cause__ = failure.__cause__ or (error if failure is not error else None)
            calls[0].fail(failure)
            return
        for call in calls:
            await self._run([each for each in batch if each.call is call], limiter)


def _alike(taken: Sequence[_Taken[Item]]) -> Iterator[list[_Taken[Item]]]:
    """Shortest first, in batches whose lengths lie within an eighth: padding costs as much as words."""
    by_length = sorted(taken, key=lambda each: each.length)
    bound = 0

    def batch_of(each: _Taken[Item]) -> int:
        nonlocal bound
        if each.length > bound:
            bound = each.length + each.length // 8
        return bound

    for _, batch in groupby(by_length, key=batch_of):
        yield list(batch)
