"""A line at the foot of the page that says what was done, with a way to undo it, or what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from nicegui import Client, ui

__all__ = ["Telling", "Undo", "tell"]

Telling = Literal["done", "problem"]
Undo = Callable[[], Awaitable[None]]
SHOWN_S = 8.0


def tell(
    client: Client,
    text: str,
    *,
    kind: Telling = "done",
    undo: Undo | None = None,
    undo_text: str = "",
) -> None:
    """Show a line for some seconds; the one before it goes."""
    for earlier in [one for one in client.elements.values() if "told" in one.classes]:
        earlier.delete()
    with client.content:
        line = ui.element("div").classes(f"told {kind}").props("role=status")
    with line:
        ui.icon("check" if kind == "done" else "error_outline")
        ui.label(text)
        if undo is not None:

            async def take_back() -> None:
                line.delete()
                with client.content:
                    await undo()

            button = ui.button(undo_text, on_click=take_back, color=None)  # the theme's is dark on dark
            button.props("flat dense no-caps").classes("undo")
        ui.timer(SHOWN_S, line.delete, once=True)
