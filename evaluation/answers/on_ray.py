"""Workers on a Ray cluster, one actor each. Extra `distributed`; `RAY_ADDRESS` names the cluster."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from evaluation.answers.results import CaseResult, Identity
from evaluation.answers.worker import NAMED, Job, Task, open_worker
from gateway.errors import InvalidRequest, SekishoError

__all__ = ["Actor", "RayLane", "open_ray"]


class Actor:
    """A worker inside an actor. Methods are coroutines of the actor's own event loop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._stack = AsyncExitStack()
        self._worker: Any = None

    async def open(self) -> Identity | str:
        """Who works there; a text says what can't be opened."""
        try:
            self._worker = await self._stack.enter_async_context(open_worker(self._job))
        except NAMED as exc:
            return str(exc)
        identity: Identity = self._worker.identity
        return identity

    async def run(self, tasks: Sequence[Task]) -> list[CaseResult]:
        """The results of these cases."""
        results: list[CaseResult] = await self._worker.run(tasks)
        return results

    async def close(self) -> None:
        """Close what is open."""
        await self._stack.aclose()


class RayLane:
    """A lane to an actor."""

    width = 2  # one travels while the other is worked on

    def __init__(self, actor: Any, identity: Identity, *, batch: int) -> None:
        self.identity = identity
        self.batch = batch
        self._actor = actor

    async def run(self, tasks: Sequence[Task], /) -> Sequence[CaseResult]:
        """Send the cases there, and wait for their results."""
        from ray.exceptions import RayError

        try:
            found: list[CaseResult] = await self._actor.run.remote(list(tasks))
        except RayError as exc:
            raise SekishoError(
                "a worker of the cluster died; what is finished is kept: run the same command again"
            ) from exc
        return found


@asynccontextmanager
async def open_ray(job: Job, workers: int) -> AsyncIterator[Sequence[RayLane]]:
    """So many actors on the cluster that `RAY_ADDRESS` names, or on one that is started here.

    Raises:
        SekishoError: naming what can't be opened, ray itself among it.
    """
    try:
        import ray
    except ImportError as exc:
        raise InvalidRequest('--executor ray: expected the extra "distributed" to be installed') from exc
    mine = not ray.is_initialized()
    if mine:
        ray.init(address=os.environ.get("RAY_ADDRESS"), include_dashboard=False, log_to_driver=False)
    actors = [ray.remote(Actor).options(num_cpus=1).remote(job) for _ in range(workers)]
    try:
        lanes = []
        for actor in actors:
            opened = await actor.open.remote()
            if isinstance(opened, str):
                raise SekishoError(opened)
            lanes.append(RayLane(actor, opened, batch=job.batch))
        yield lanes
        for actor in actors:
            await actor.close.remote()
    finally:
        for actor in actors:
            ray.kill(actor)
        if mine:
            ray.shutdown()
