"""Errors in the log: their names and places. A message, or what an error holds, may quote a question."""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["log_failure"]

INNERMOST = 8  # frames that are named


def log_failure(log: Any, event: str, exc: BaseException, **about: object) -> None:
    """Log what nobody foresaw: its type and where it broke at error level, its message only at debug level.

    Args:
        log: a logger of structlog.
        about: what it happened to; names and ids, no texts.
    """
    frames = traceback.extract_tb(exc.__traceback__)[-INNERMOST:]
    at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    log.error(event, **about, error=type(exc).__name__, at=at)
    log.debug(event, **about, exc_info=exc)
