"""What changed between two versions of a text, or of an entry, in colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape

from nicegui import ui

from cache.entries import Entry
from gateway.console.texts import Texts

__all__ = ["show_changes"]

FIELDS = ("state", "kind", "language", "group", "owner", "valid_from", "valid_until", "review_by")
MOST_PIECES = 3_000  # of a text; longer ones are compared by lines
_PIECE = re.compile(r"\s+|[A-Za-z0-9_]+|.", re.DOTALL)  # words, or single characters where there are none


def _show_diff(before: str, after: str) -> None:
    """One text with what went struck through, and what came marked."""
    ui.html("".join(_marked(before, after)), sanitize=False).classes("inline-diff")  # escaped piece by piece


def show_changes(t: Texts, before: Entry, after: Entry) -> None:
    """Every field in which two versions of an entry differ."""
    found = _changed_fields(before, after)
    if not found:
        ui.label(t("entry.no_change")).classes("quiet small")
    for name, was, now in found:
        with ui.element("div").classes("change"):
            ui.label(t(f"entry.{name}")).classes("quiet small")
            if name in ("state", "kind"):
                was, now = (t.or_else(f"{_WORDS[name]}.{one}", one) for one in (was, now))
            _show_diff(was, now)


_WORDS = {"state": "states", "kind": "outcomes"}


def _changed_fields(before: Entry, after: Entry) -> list[tuple[str, str, str]]:
    """Name, text before and text after of the fields that differ."""
    was, now = _texts(before), _texts(after)
    return [(name, was[name], now[name]) for name in now if was[name] != now[name]]


def _texts(entry: Entry) -> dict[str, str]:
    texts = {
        "answer": entry.answer,
        "phrasings": "\n".join(entry.phrasings),
        "sources": "\n".join(f"{one.document}@{one.version[:8]}".rstrip("@") for one in entry.sources),
    }
    return texts | {name: str(getattr(entry, name) or "") for name in FIELDS}


def _marked(before: str, after: str) -> Iterator[str]:
    was, now = _pieces(before), _pieces(after)
    if max(len(was), len(now)) > MOST_PIECES:
        was, now = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for what, i1, i2, j1, j2 in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        gone, come = escape("".join(was[i1:i2])), escape("".join(now[j1:j2]))
        if what == "equal":
            yield come
            continue
        if gone:
            yield f"<del>{gone}</del>"
        if come:
            yield f"<ins>{come}</ins>"


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(text)
