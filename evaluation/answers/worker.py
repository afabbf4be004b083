"""One case from question to numbers. A worker is the same wherever it is opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Literal

from cache.errors import CacheError
from classifiers import ClassifierError
from encoders import EncoderError
from evaluation.answers.cases import AnswerCase, case_digest
from evaluation.answers.judging import Meter, open_judges
from evaluation.answers.results import CaseResult, Identity, MetricResult
from evaluation.answers.targets import Target, open_target
from evaluation.metrics import Measured, Metric, Score
from evaluation.metrics.registry import open_metrics
from gateway.errors import SekishoError
from gateway.settings import Settings
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["NAMED", "Job", "Task", "Worker", "open_worker"]

# What can go wrong, wherever a worker is.
NAMED = (SekishoError, CacheError, ClassifierError, EncoderError, DatabaseUnavailable, IndexUnavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done with every case; travels to other processes and machines."""

    settings: Settings
    target: Literal["gateway", "upstream", "recorded"]
    metrics: tuple[str, ...]
    concurrency: int = 8
    url: str | None = None  # of a running gateway
    key: str = ""
    entries: tuple[Path, ...] = ()  # verified entries for the gateway's shelf, besides those it serves
    tenant: str = "default"


@dataclass(frozen=True, slots=True)
class Task:
    """A case, and what an earlier run found, as far as it still holds."""

    case: AnswerCase
    before: CaseResult | None = None


class Worker:
    """Asks the target and measures what it said."""

    def __init__(self, target: Target, metrics: Sequence[Metric], meter: Meter, *, concurrency: int) -> None:
        self.identity = Identity(target.version, {one.name: one.version for one in metrics})
        self._target = target
        self._metrics = metrics
        self._meter = meter
        self._at_once = asyncio.Semaphore(concurrency)

    async def run(self, tasks: Sequence[Task], /) -> list[CaseResult]:
        """The results of these cases, in their order."""
        return list(await asyncio.gather(*map(self._one, tasks)))

    async def _one(self, task: Task) -> CaseResult:
        async with self._at_once:
            result = await self._answered(task)
            with self._meter.counting() as spent:
                metrics = {one.name: await self._measured(one, result) for one in self._metrics}
            return replace(result, metrics=metrics, judge_tokens=spent.tokens)

    async def _answered(self, task: Task) -> CaseResult:
        if task.before and self.identity.answered(task.before):
            return task.before
        said, error, started = None, "", perf_counter()
        try:
            said = await self._target.ask(task.case)
        except NAMED as exc:
            error = str(exc)
        said = said and replace(said, ms=round((perf_counter() - started) * 1000, 3))
        return CaseResult(
            digest=case_digest(task.case), case=task.case, target=self._target.version, said=said,
            error=error, metrics={},
        )  # fmt: skip

    async def _measured(self, metric: Metric, result: CaseResult) -> MetricResult:
        before = result.metrics.get(metric.name)
        if before and before.version == metric.version:
            return before
        answered = result.answered_case
        if answered is None:
            return MetricResult(version=metric.version, value=None, reason="the target failed")
        try:
            return _as_result(await metric.measure(answered), metric.version)
        except (*NAMED, ValueError) as exc:  # ValueError: a number that is none, such as NaN
            return MetricResult(version=metric.version, value=None, reason=str(exc))


@asynccontextmanager
async def open_worker(job: Job) -> AsyncIterator[Worker]:
    """A worker that is ready.

    Raises:
        SekishoError, EncoderError: naming what can't be opened.
    """
    async with AsyncExitStack() as stack:
        meter = Meter()
        judges = await stack.enter_async_context(open_judges(job.settings, meter))
        target = await stack.enter_async_context(
            open_target(
                job.target, job.settings, url=job.url, key=job.key, entries=job.entries, tenant=job.tenant
            )
        )
        metrics = open_metrics(job.metrics, judges)
        yield Worker(target, metrics, meter, concurrency=job.concurrency)


def _as_result(found: Measured, version: str) -> MetricResult:
    if isinstance(found, Score):
        return MetricResult(version=version, value=float(found.value), steps=found.steps)
    return MetricResult(version=version, value=None, reason=found.reason, steps=found.steps)
