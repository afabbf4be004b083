"""Workers in processes of this machine: local judges keep a core busy each."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import uvloop
from anyio import to_thread

from evaluation.answers.results import CaseResult, Identity
from evaluation.answers.worker import NAMED, Job, Task, open_worker
from gateway.errors import SekishoError

__all__ = ["Process", "open_processes"]

STOPPING_S = 3.0


class Process:
    """A lane to a worker in another process; it ends with the pipe."""

    width = 1

    def __init__(self, pipe: Connection, process: BaseProcess, identity: Identity, *, batch: int) -> None:
        self.identity = identity
        self.batch = batch
        self._pipe = pipe
        self._process = process

    async def run(self, tasks: Sequence[Task], /) -> Sequence[CaseResult]:
        """Send the cases there, and wait for their results."""
        self._pipe.send(list(tasks))
        found: Sequence[CaseResult] = await _received(self._pipe)
        return found


@asynccontextmanager
async def open_processes(job: Job, workers: int) -> AsyncIterator[Sequence[Process]]:
    """So many processes, each with its worker.

    Raises:
        SekishoError: naming what can't be opened.
    """
    async with AsyncExitStack() as stack:
        started = []
        for _ in range(workers):
            ours, theirs = get_context("spawn").Pipe()
            process = get_context("spawn").Process(target=_serve, args=(theirs, job), daemon=True)
            process.start()
            theirs.close()
            stack.callback(_stop, process, ours)
            started.append((ours, process))
        yield [Process(ours, process, await _received(ours), batch=job.batch) for ours, process in started]


async def _received(pipe: Connection) -> Any:
    try:
        found = await to_thread.run_sync(pipe.recv, abandon_on_cancel=True)
    except (EOFError, OSError) as exc:
        raise SekishoError(
            "a worker process died; what is finished is kept: run the same command again"
        ) from exc
    if isinstance(found, Exception):
        raise found
    return found


def _stop(process: BaseProcess, pipe: Connection) -> None:
    with suppress(OSError):
        pipe.send(None)
    process.join(STOPPING_S)
    if process.is_alive():
        process.terminate()
    pipe.close()


def _serve(pipe: Connection, job: Job) -> None:
    """The process: it stops when its parent says so or dies; Ctrl-C is its parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    uvloop.run(_serving(pipe, job))


def _next(pipe: Connection) -> Sequence[Task] | None:
    """The cases that come next; None once the parent is gone, too."""
    try:
        tasks: Sequence[Task] | None = pipe.recv()
    except EOFError:
        return None
    return tasks


async def _serving(pipe: Connection, job: Job) -> None:
    try:
        async with open_worker(job) as worker:
            pipe.send(worker.identity)
            while tasks := await to_thread.run_sync(_next, pipe):
                pipe.send(await worker.run(tasks))
    except NAMED as exc:
        pipe.send(SekishoError(str(exc)))
