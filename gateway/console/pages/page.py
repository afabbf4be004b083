"""What a page is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway.console.visit import Visit
from gateway.people import PersonRole

__all__ = ["Page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the console. Its title is the text `pages.NAME`."""

    path: str
    name: str
    show: Callable[[Visit], Awaitable[None]]
    role: PersonRole = "viewer"
    icon: str = ""  # in the navigation; without one it is not there
    alarms: Callable[[Visit], Awaitable[int]] | None = None  # what waits there and should not, counted
