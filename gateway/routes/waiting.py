"""A reply in one piece for an asker who waits for it, as long as they do."""

from __future__ import annotations

import asyncio

from fastapi import Request

from gateway.assembly import Services
from gateway.domain import Conversation, Reply
from gateway.streaming import Line

__all__ = ["whole_reply"]


async def whole_reply(services: Services, asked: Conversation, request: Request) -> Reply:
    """The reply; what was decided when the asker hangs up is still recorded.

    Raises:
        AskerLeft: they did, and nothing was.
        TicketNotStored: a question could not be kept for a person.
    """
    line = Line(whole=True)
    listening = asyncio.create_task(_hear_of_hanging_up(request, line))
    try:
        return await services.pipeline.answer(asked, line)
    finally:
        listening.cancel()


async def _hear_of_hanging_up(request: Request, line: Line) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    line.hang_up()
