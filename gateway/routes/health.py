"""For orchestrators and Prometheus. No key is asked for: nothing here names a question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from functools import partial
from typing import Literal

import structlog
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text

from encoders import EncoderError
from gateway.assembly import Services
from gateway.errors import StoreUnavailable
from gateway.routes.services import ServicesDep
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["router"]

router = APIRouter(tags=["health"])

State = Literal["ok", "failing"]
NEEDED = {"database", "encoder"}  # without the others there are still RAG's answers or the cache's
PROBE_S = 5.0  # a part that takes longer is failing; Prometheus gives all of /metrics 10 s


@router.get("/livez")
@router.head("/livez", include_in_schema=False)
async def livez() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
@router.head("/readyz", include_in_schema=False)
async def readyz(services: ServicesDep) -> JSONResponse:
    """Whether questions get answers here. The parts are asked now, SQL whether it takes changes of late;
    of the chatbot it is known how it answered last.

    Where a part fails without which most questions are answered all the same, it is degraded and ready.
    """
    parts = await _parts(services)
    lost = any(report.lost for report in services.gatekeeping.canaries.reports.values())
    parts["canaries"] = "failing" if lost else "ok"
    parts["background"] = "failing" if services.background.failing else "ok"
    failing = {part for part, state in parts.items() if state == "failing"}
    if failing & NEEDED:
        return JSONResponse({"status": "failing", **parts}, 503)
    return JSONResponse({"status": "degraded" if failing else "ok", **parts})


@router.get("/metrics")
async def metrics(services: ServicesDep) -> Response:
    """Prometheus text format. What does not answer in time is not known; the rest is told all the same."""
    shown = services.telemetry.metrics
    parts, *_ = await asyncio.gather(_parts(services), _show_counts(services), _show_audits(services))
    for part, state in parts.items():
        shown.ready.labels(part).set(state == "ok")
    _show_gate(services)
    return Response(generate_latest(shown.registry), media_type=CONTENT_TYPE_LATEST)


async def _show_counts(services: Services) -> None:
    """What waits; not known is not none."""
    shown = services.telemetry.metrics
    outbox = services.desk.outbox
    promise = timedelta(hours=services.settings.review.promise_hours)
    counts = (
        (shown.open_tickets, services.tickets.count_open),
        (shown.overdue_tickets, partial(services.tickets.count_open, older_than=promise)),
        (shown.open_audits, services.audits.count_open),
        (shown.deliveries.labels("waiting"), partial(outbox.count, "waiting")),
        (shown.deliveries.labels("dead"), partial(outbox.count, "dead")),
    )
    try:
        async with asyncio.timeout(PROBE_S):
            found = [float(await count()) for _, count in counts]
    except (StoreUnavailable, TimeoutError):
        found = [float("nan")] * len(counts)
    for (gauge, _), number in zip(counts, found, strict=True):
        gauge.set(number)


async def _show_audits(services: Services) -> None:
    """Bounds and alarms of every shelf; none while they can't be known."""
    shown = services.telemetry.metrics
    try:
        async with asyncio.timeout(PROBE_S):
            reports = await services.audits.reports(topics=False)
    except (StoreUnavailable, TimeoutError):
        reports = ()
    shown.target_error.set(services.settings.cache.target_error)
    shown.error_bound.clear()
    shown.alarm.clear()
    for report in reports:
        shelf = (report.tenant, report.language)
        shown.error_bound.labels(*shelf).set(report.wrong_per_request.upper)
        shown.alarm.labels("error", *shelf).set(report.error_alarm)
        shown.alarm.labels("drift", *shelf).set(report.drift_alarm)


def _show_gate(services: Services) -> None:
    """Canaries of the last round, and gates that have not learnt what was accepted."""
    shown, kept = services.telemetry.metrics.gatekeeping, services.gatekeeping
    for report in kept.canaries.reports.values():
        shown.canaries_asked.labels(report.tenant).set(report.asked)
        shown.canaries_lost.labels(report.tenant).set(len(report.lost))
    for tenant, lesson in (kept.learning.lessons if kept.learning else {}).items():
        shown.behind.labels(tenant).set(lesson.state != "learnt")


async def _parts(services: Services) -> dict[str, State]:
    """What a question needs, and whether it answers."""
    checks = {"database": _database, "writing": _writing, "index": _index, "encoder": _encoder}
    states = await asyncio.gather(*(_state(name, check(services)) for name, check in checks.items()))
    upstream: State = "failing" if services.upstream.failing else "ok"  # not asked: it may cost money
    return {**dict(zip(checks, states, strict=True)), "upstream": upstream}


async def _state(part: str, check: Awaitable[object]) -> State:
    try:
        async with asyncio.timeout(PROBE_S):
            await check
    except (DatabaseUnavailable, IndexUnavailable, EncoderError, TimeoutError) as exc:
        error = str(exc) or f"no answer within {PROBE_S:g} s"
        structlog.get_logger("sekisho").warning("not ready", part=part, error=error)
        return "failing"
    return "ok"


async def _database(services: Services) -> None:
    async with services.stores.database.quick.connect() as connection:
        await connection.execute(text("SELECT 1"))


async def _writing(services: Services) -> None:
    await services.writes.check()


async def _index(services: Services) -> None:
    """Search both for a value that nobody has of a key that is indexed, else every point would be read."""
    for index, key in ((services.stores.entry_index, "shelf"), (services.stores.passage_index, "document")):
        await index.nearest(services.probe.vector, where={key: "-"}, limit=1)


async def _encoder(services: Services) -> None:
    await services.stores.model.encode([services.probe.text])
