"""Whether requests are traced: the configuration says so, or OpenTelemetry's own variables do."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from gateway.errors import ConfigurationError
from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.tracing.otel import OtelTrace

__all__ = ["open_tracing"]

_COLLECTORS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@asynccontextmanager
async def open_tracing(settings: Settings, *, version: str) -> AsyncIterator[OtelTrace | None]:
    """The trace of the process, or None where nobody asked for one.

    Raises:
        ConfigurationError: `telemetry.otel` is on and the extra is not installed.
    """
    if not _asked_for(settings.telemetry.otel):
        yield None
        return
    try:
        from gateway.tracing.otel import open_otel  # here: nobody else needs the extra
    except ModuleNotFoundError as exc:
        if settings.telemetry.otel:
            raise ConfigurationError(f"telemetry.otel needs the extra otel ({exc.name} is missing)") from exc
        structlog.get_logger("sekisho").warning("not traced", reason="the extra otel is not installed")
        yield None
        return
    async with open_otel(version=version, texts=settings.logging.texts) as trace:
        yield trace


def _asked_for(configured: bool | None) -> bool:
    if configured is not None:
        return configured
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if disabled or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return any(os.environ.get(name) for name in _COLLECTORS)
