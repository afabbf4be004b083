"""Keys of a page, and the list of them that "?" shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nicegui import ui
from nicegui.events import KeyEventArguments

from gateway.console.texts import Texts

__all__ = ["Keys"]

Handler = Callable[[], Awaitable[None] | None]
SHOWN = {"Enter": "↵", "Escape": "Esc", "ArrowDown": "↓", "ArrowUp": "↑"}


@dataclass(slots=True)
class Keys:
    """What each key does on this page. Typing into a field, and Ctrl, Alt or Meta, are left alone."""

    t: Texts
    _does: dict[str, Handler] = field(default_factory=dict)
    _says: dict[str, str] = field(default_factory=dict)

    def on(self, key: str, text: str, handler: Handler) -> None:
        """Bind a key; `text` is the key of what the help says. The last binding of a key holds."""
        self._does[key] = handler
        self._says[key] = text

    def note(self, key: str, text: str) -> None:
        """List a key that the page itself listens to."""
        self._says[key] = text

    def listen(self) -> None:
        """Start listening; the frame does this once."""
        ui.keyboard(on_key=self._pressed, ignore=["input", "select", "textarea"])
        self.on("?", "keys.help", self._help)

    def help_button(self) -> None:
        """The mouse's way to the list."""
        button = (
            ui.button("?", on_click=self._help, color=None).props("flat dense round").classes("small-button")
        )
        button.tooltip(self.t("keys.help"))

    def _pressed(self, event: KeyEventArguments) -> Awaitable[None] | None:
        held = event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta
        handler = self._does.get(str(event.key.name))
        if not event.action.keydown or held or handler is None:
            return None
        return handler()

    def _help(self) -> None:
        with ui.dialog(value=True) as dialog, ui.element("div").classes("sheet keys"):
            ui.label(self.t("keys.title")).classes("sheet-title")
            for key, text in self._says.items():
                with ui.element("div").classes("key-line"):
                    ui.label(SHOWN.get(key, key)).classes("key")
                    ui.label(self.t(text))
        dialog.on("hide", dialog.delete)
