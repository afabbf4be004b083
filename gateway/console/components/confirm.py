"""A question before what can't be taken back."""

from __future__ import annotations

from nicegui import ui

from gateway.console.texts import Texts

__all__ = ["confirmed"]


async def confirmed(t: Texts, title: str, body: str, *, yes: str, danger: bool = False) -> bool:
    """Ask, and wait for the answer; closing the question means no. All texts are ready to show."""
    with ui.dialog() as dialog, ui.element("div").classes("sheet"):
        ui.label(title).classes("sheet-title")
        ui.label(body).classes("sheet-body")
        with ui.element("div").classes("sheet-actions"):
            ui.button(t("frame.cancel"), on_click=lambda: dialog.submit(False)).props("flat no-caps")
            colour = None if danger else "primary"  # Quasar's own can't be overruled by a style
            button = ui.button(yes, on_click=lambda: dialog.submit(True), color=colour)
            button.props("unelevated no-caps autofocus")
            if danger:
                button.classes("danger")
    answer = await dialog
    dialog.delete()
    return bool(answer)
