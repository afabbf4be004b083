"""Texts as both databases take them."""

from __future__ import annotations

__all__ = ["storable"]


def storable(text: str) -> str:
    """The text without what PostgreSQL or UTF-8 can't hold: NUL and halves of surrogate pairs."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
