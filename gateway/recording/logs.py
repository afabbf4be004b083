"""The log: one line per event on standard error, which must cost nobody an answer."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog

from gateway.settings import LoggingSettings

__all__ = ["configure_logging"]


class _Lenient:
    """Drops what its stream can't take: a full disk or a closed pipe must cost nobody an answer."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def configure_logging(settings: LoggingSettings) -> None:
    """One line per event on standard error, JSON or for people."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if settings.format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        logger_factory=structlog.WriteLoggerFactory(file=cast("TextIO", _Lenient(sys.stderr))),
        cache_logger_on_first_use=False,
    )
