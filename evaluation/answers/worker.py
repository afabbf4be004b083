"""One case from question to numbers. A worker is the same wherever it is opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Literal

from cache.errors import CacheError
from classifiers import ClassifierError
from encoders import Encoder, EncoderError
from encoders.memo import LARGEST_CALL, MemoEncoder
from evaluation.answers.cases import AnswerCase, case_digest
from evaluation.answers.judging import Meter, open_judges
from evaluation.answers.results import CaseResult, Identity, MetricResult
from evaluation.answers.targets import Target, open_target
from evaluation.metrics import Encodes, Measured, Metric, Score
from evaluation.metrics.registry import open_metrics
from gateway.errors import SekishoError, UpstreamUnavailable
from gateway.settings import Settings
from storage.parts import in_parts
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["NAMED", "Job", "Task", "Worker", "open_worker"]

TOGETHER = 64  # cases; their texts, by length, need hardly any padding

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

    @property
    def waits(self) -> bool:
        """Whether somebody is asked who is paid for, or waited for; otherwise all work is done here."""
        llm = self.settings.evaluation.llm
        asked = self.target != "recorded" and (self.url or self.settings.upstream.kind == "openai")
        return bool(llm or asked)

    @property
    def batch(self) -> int:
        """Cases that travel together to a worker: a kill loses no more answers than are under way."""
        return self.concurrency if self.waits else TOGETHER


@dataclass(frozen=True, slots=True)
class Task:
    """A case, and what an earlier run found, as far as it still holds."""

    case: AnswerCase
    before: CaseResult | None = None


class Worker:
    """Asks the target and measures what it said."""

    def __init__(
        self, target: Target, metrics: Sequence[Metric], encoder: Encoder, meter: Meter, *, concurrency: int
    ) -> None:
        self.identity = Identity(target.version, {one.name: one.version for one in metrics})
        self._target = target
        self._metrics = metrics
        self._encode = [one for one in metrics if isinstance(one, Encodes)]
        self._encoder = encoder
        self._meter = meter
        self._at_once = asyncio.Semaphore(concurrency)

    async def run(self, tasks: Sequence[Task], /) -> list[CaseResult]:
        """The results of these cases, in their order."""
        answered = await asyncio.gather(*map(self._answered, tasks))
        await self._encode_ahead(answered)
        return list(await asyncio.gather(*map(self._judged, answered)))

    async def _answered(self, task: Task) -> CaseResult:
        if task.before and self.identity.answered(task.before):
            return task.before
        said, error, cause = None, "", ""
        async with self._at_once:
            started = perf_counter()
            try:
                said = await self._target.ask(task.case)
            except NAMED as exc:
                error = str(exc)
                cause = exc.cause if isinstance(exc, UpstreamUnavailable) else ""
            ms = round((perf_counter() - started) * 1000, 3)
        said = said and replace(said, ms=ms)
        return CaseResult(
            digest=case_digest(task.case), case=task.case, target=self._target.version, said=said,
            error=error, cause=cause, metrics={},
        )  # fmt: skip

    async def _encode_ahead(self, results: Sequence[CaseResult]) -> None:
        """The texts of all these cases by length: what is encoded at once needs no padding then."""
        if not isinstance(self._encoder, MemoEncoder):  # it would forget them until they are asked for
            return
        texts = {text for result in results for text in self._texts(result)}
        with suppress(EncoderError):  # the metric that needs a vector asks again, and says what is wrong
            for some in in_parts(sorted(texts, key=len), LARGEST_CALL):
                await self._encoder.encode(some)

    def _texts(self, result: CaseResult) -> Iterator[str]:
        if case := result.answered_case:
            for metric in self._encode:
                yield from () if _measured_before(metric, result) else metric.texts(case)

    async def _judged(self, result: CaseResult) -> CaseResult:
        async with self._at_once:
            with self._meter.counting() as spent:
                metrics = {one.name: await self._measured(one, result) for one in self._metrics}
            return replace(result, metrics=metrics, judge_tokens=spent.tokens)

    async def _measured(self, metric: Metric, result: CaseResult) -> MetricResult:
        if before := _measured_before(metric, result):
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
        target = await stack.enter_async_context(
            open_target(
                job.target, job.settings, url=job.url, key=job.key, entries=job.entries, tenant=job.tenant
            )
        )
        judges = await stack.enter_async_context(open_judges(job.settings, meter, encoder=target.encoder))
        metrics = open_metrics(job.metrics, judges)
        yield Worker(target, metrics, judges.encoder, meter, concurrency=job.concurrency)


def _measured_before(metric: Metric, result: CaseResult) -> MetricResult | None:
    """What an earlier run found, where the same metric would say the same."""
    before = result.metrics.get(metric.name)
    return before if before and before.version == metric.version else None


def _as_result(found: Measured, version: str) -> MetricResult:
    if isinstance(found, Score):
        return MetricResult(version=version, value=float(found.value), steps=found.steps)
    return MetricResult(version=version, value=None, reason=found.reason, steps=found.steps)
