"""The rows of the queue, drawn and moved through in the browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui.element import Element

__all__ = ["QueueList"]

Row = Mapping[str, Any]


class QueueList(Element, component="queue_list.js"):
    """Rows with a cursor and ticks. What the rows hold is written in the script's template."""

    def __init__(
        self,
        *,
        texts: Mapping[str, str],
        actions: Sequence[Mapping[str, str]],
        on_open: Callable[[str, str], Any],
        on_act: Callable[[str, list[str]], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._props["rows"] = []
        self._props["texts"] = dict(texts)
        self._props["actions"] = [dict(one) for one in actions]
        self.on("open", lambda event: on_open(str(event.args["id"]), str(event.args["intent"])))
        self.on(
            "act", lambda event: on_act(str(event.args["name"]), [str(id_) for id_ in event.args["rows"]])
        )

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows; the same rows again cost nothing."""
        if self._props["rows"] != rows:
            self._props["rows"] = list(rows)
            self.update()
