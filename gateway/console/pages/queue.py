"""What waits for a person."""

from __future__ import annotations

from gateway.console.components.empty import empty
from gateway.console.visit import Visit

__all__ = ["show"]


async def show(visit: Visit) -> None:
    """The queue."""
    empty(visit.t("pages.queue"))
