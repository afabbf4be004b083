"""Askers who wait for a reply, as long as they do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import Request

from gateway.assembly import Services
from gateway.domain import Conversation, Reply
from gateway.streaming import Line

__all__ = ["listening", "whole_reply"]


async def whole_reply(services: Services, asked: Conversation, request: Request) -> Reply:
    """The reply; what was decided when the asker hangs up is still recorded.

    Raises:
        AskerHungUp: they did, and nothing was.
        TicketNotStored: a question could not be kept for a person.
    """
    line = Line(whole=True)
    with listening(request, line):
        return await services.pipeline.answer(asked, line)


@contextmanager
def listening(request: Request, line: Line) -> Iterator[None]:
    """Hear of it if the asker hangs up meanwhile."""
    hearing = asyncio.create_task(_hear_of_hanging_up(request, line))
    try:
        yield
    finally:
        hearing.cancel()


async def _hear_of_hanging_up(request: Request, line: Line) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    line.hang_up()
