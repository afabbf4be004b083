"""A number with what it counts, its interval if it has one, and where it leads."""

from __future__ import annotations

from nicegui import ui

from gateway.console.components.chip import Tone

__all__ = ["figure"]


def figure(
    name: str, value: str, *, note: str = "", tone: Tone = "quiet", target: str = "", help_text: str = ""
) -> ui.element:
    """A card with one figure; `note` holds its interval or its base, `target` the questions behind it."""
    card = ui.link(target=target) if target else ui.element("div")
    with card.classes(f"figure {tone}") as shown:
        ui.label(name).classes("figure-name")
        ui.label(value).classes("figure-value")
        if note:
            ui.label(note).classes("figure-note")
        if help_text:
            ui.tooltip(help_text)
    return shown
