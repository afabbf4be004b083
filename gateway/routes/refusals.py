"""What the cache refuses, as errors that a client understands; and the index after the truth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from cache.errors import (
    CacheError,
    DuplicatePhrasing,
    EntryConflict,
    EntryNotFound,
    ForbiddenChange,
    InvalidEntry,
    SecondPersonNeeded,
    SuggestionDecided,
    SuggestionNotFound,
)
from encoders import EncoderError
from gateway.assembly import Services
from gateway.errors import Conflict, InvalidRequest, NotFound, SekishoError
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["index_now", "refusals_named"]


@contextmanager
def refusals_named() -> Iterator[None]:
    """Turn what the cache refuses into the gateway's errors."""
    try:
        yield
    except CacheError as exc:
        raise _named(exc) from exc


def _named(error: CacheError) -> SekishoError:
    match error:
        case EntryNotFound() | SuggestionNotFound():
            return NotFound(str(error))
        case EntryConflict() | ForbiddenChange() | SecondPersonNeeded() | SuggestionDecided():
            return Conflict(str(error))
        case DuplicatePhrasing():
            return Conflict(str(error), param=error.field)
        case InvalidEntry():
            return InvalidRequest(str(error), param=error.field)
        case _:
            return InvalidRequest(str(error))


async def index_now(services: Services) -> bool:
    """Index what SQL has and the index lacks; False if that has to wait, the entry is safe in SQL."""
    try:
        await services.stores.index_pending()
    except (IndexUnavailable, EncoderError, DatabaseUnavailable) as exc:
        structlog.get_logger("sekisho").warning("not indexed yet", error=type(exc).__name__)
        return False
    return True
