"""All pages, in the order of the navigation."""

from __future__ import annotations

from gateway.console.pages import queue
from gateway.console.pages.page import Page

__all__ = ["PAGES"]

PAGES: tuple[Page, ...] = (Page(path="/", name="queue", show=queue.show, icon="inbox"),)
