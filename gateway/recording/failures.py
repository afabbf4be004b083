"""Errors in the log: their names and places. A message, or what an error holds, may quote a question."""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["log_failure", "places"]

INNERMOST = 8  # frames that are named


def log_failure(log: Any, event: str, exc: BaseException, **about: object) -> None:
    """Log what nobody foresaw: its type and where it broke at error level, its message only at debug level.

    Args:
        log: a logger of structlog.
        about: what it happened to; names and ids, no texts.
    """
    log.error(event, **about, error=type(exc).__name__, at=places(exc))
    log.debug(event, **about, exc_info=exc)


def places(exc: BaseException) -> list[str]:
    """Where it broke: file, line and function of the innermost frames."""
    frames = traceback.extract_tb(exc.__traceback__)[-INNERMOST:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
