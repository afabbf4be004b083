"""What a list says when there is nothing in it."""

from __future__ import annotations

from nicegui import ui

__all__ = ["empty"]


def empty(title: str, text: str = "", *, icon: str = "done_all") -> None:
    """A calm sentence instead of an empty box."""
    with ui.element("div").classes("empty"):
        ui.icon(icon)
        ui.label(title).classes("strong")
        if text:
            ui.label(text).classes("quiet")
