"""Where cases are worked on, by the same worker: here, in processes, or on a Ray cluster.

A lane takes some cases and gives their results; `drive` keeps every lane busy and hands on what is finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from typing import Literal, Protocol

from evaluation.answers.on_ray import open_ray
from evaluation.answers.processes import open_processes
from evaluation.answers.results import CaseResult, Identity
from evaluation.answers.worker import Job, Task, Worker, open_worker
from gateway.errors import InvalidRequest

__all__ = ["Executor", "Lane", "drive", "open_lanes"]

Executor = Literal["local", "ray"]


class Lane(Protocol):
    """Works on cases."""

    identity: Identity
    batch: int  # cases at once
    width: int  # batches under way

    async def run(self, tasks: Sequence[Task], /) -> Sequence[CaseResult]: ...


async def drive(
    lanes: Sequence[Lane], tasks: Iterable[Task], done: Callable[[Sequence[CaseResult]], Awaitable[None]]
) -> None:
    """Work through the tasks; `done` gets results as they come, in no order.

    Raises:
        SekishoError: the first that ended a lane.
    """
    feed = iter(tasks)

    async def serve(lane: Lane) -> None:
        while batch := list(islice(feed, lane.batch)):
            await done(await lane.run(batch))

    try:
        async with asyncio.TaskGroup() as group:
            for lane in (one for one in lanes for _ in range(one.width)):
                group.create_task(serve(lane))
    except BaseExceptionGroup as found:
        raise found.exceptions[0] from None


@asynccontextmanager
async def open_lanes(executor: Executor, job: Job, *, workers: int) -> AsyncIterator[Sequence[Lane]]:
    """So many workers, ready.

    Raises:
        SekishoError: naming what can't be opened.
    """
    async with AsyncExitStack() as stack:
        lanes: Sequence[Lane]
        if executor == "ray":
            lanes = await stack.enter_async_context(open_ray(job, workers))
        elif workers == 1:
            lanes = [_Here(await stack.enter_async_context(open_worker(job)), width=job.concurrency)]
        else:
            lanes = await stack.enter_async_context(open_processes(job, workers))
        if any(lane.identity != lanes[0].identity for lane in lanes):
            raise InvalidRequest("the workers differ: expected the same release and files on every one")
        yield lanes


class _Here:
    """A worker in this process."""

    batch = 1

    def __init__(self, worker: Worker, *, width: int) -> None:
        self.identity = worker.identity
        self.width = width
        self.run = worker.run
