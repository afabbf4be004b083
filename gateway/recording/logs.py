"""The log: one line per event on standard error, which must cost nobody an answer."""

from __future__ import annotations

import io
import logging
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor

from gateway.recording.failures import places
from gateway.settings import LoggingSettings

__all__ = ["HANDLER", "configure_logging"]

HANDLER = "sekisho"  # at the root of the loggers of libraries
_SERVER = "uvicorn.error"  # its messages quote no request
_WARNINGS = "py.warnings"  # their messages begin with file, line and category


class _Lenient:
    """Drops what its stream can't take: a full disk or a closed pipe must cost nobody an answer."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = _whole_lines(stream)

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def _whole_lines(stream: TextIO) -> TextIO:
    """The stream with a buffer, which keeps the rest of a line that a full disk took half of.

    Under PYTHONUNBUFFERED it has none, and the next line would be written into the half one.
    """
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    return open(stream.fileno(), "w", encoding=stream.encoding, errors=stream.errors, closefd=False)


def configure_logging(settings: LoggingSettings) -> None:
    """One line per event on standard error, JSON or for people; those of libraries, too."""
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if settings.format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    stamped: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    stream = cast("TextIO", _Lenient(sys.stderr))
    structlog.configure(
        processors=[*stamped, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[settings.level.upper()]))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_whole if settings.texts or settings.level == "debug" else _named, *stamped],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    _take_in_libraries(handler)


def _take_in_libraries(handler: logging.Handler) -> None:
    """What libraries log or warn of goes there, instead of bare to standard error."""
    handler.name = HANDLER
    root = logging.getLogger()
    for earlier in [one for one in root.handlers if one.name == HANDLER]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    logging.captureWarnings(True)


def _whole(_: object, __: str, event: EventDict) -> EventDict:
    """A library's line, where texts may be logged."""
    return {**event, "event": event["event"].strip(), "logger": event["_record"].name}


def _named(_: object, __: str, event: EventDict) -> EventDict:
    """A library's line by its names and places, for its message or its exception may quote a question."""
    record: logging.LogRecord = event.pop("_record")
    said: str = event.pop("event")
    error = record.exc_info[1] if record.exc_info else None
    about: EventDict = {"event": "a library's message", "logger": record.name}
    if error is not None:
        about.update(error=type(error).__name__, at=places(error))
    elif record.name == _WARNINGS:
        place, category, _ = said.split(": ", 2)
        about.update(error=category, at=[place])
    else:
        about["at"] = [f"{record.pathname}:{record.lineno} {record.funcName}"]
    if record.name == _SERVER:
        about["event"] = said.strip().partition("\n")[0]
    return {**about, "_record": record, "_from_structlog": False}
