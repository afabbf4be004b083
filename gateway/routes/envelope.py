"""Errors in OpenAI's envelope; `message` is always a string."""

from __future__ import annotations

from typing import Any

from gateway.errors import SekishoError

__all__ = ["envelope"]


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
