"""Errors in OpenAI's envelope; `message` is always a string."""

from __future__ import annotations

from typing import Any

import structlog

from classifiers import ClassifierError
from encoders import EncoderError
from gateway.errors import ModelUnavailable, SekishoError, StoreUnavailable
from gateway.recording.failures import log_failure
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["envelope", "named"]


def envelope(error: SekishoError, *, code: str | None = None) -> dict[str, Any]:
    """The body of an error."""
    return {
        "error": {
            "message": str(error),
            "type": error.type,
            "param": error.param,
            "code": code or error.code,
        }
    }


def named(exc: BaseException) -> SekishoError:
    """Whatever broke, as the client is told it: no traceback; the log says what broke and where."""
    log = structlog.get_logger("sekisho")
    match exc:
        case SekishoError():
            return exc
        case DatabaseUnavailable() | IndexUnavailable():
            log.error("store unavailable", error=str(exc))
            return StoreUnavailable("the store can't be reached, nothing was kept; please try again")
        case EncoderError() | ClassifierError():
            log_failure(log, "model unavailable", exc)
            return ModelUnavailable(
                "the model that reads or judges texts can't be asked now; please try again"
            )
        case _:
            log_failure(log, "unforeseen error", exc)
            return SekishoError("something broke on our side; it was logged under this request's id")
