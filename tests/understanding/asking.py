"""Conversations in one line."""

from __future__ import annotations

from gateway.domain import Conversation, Turn

Said = str | tuple[str, str]


def conversation(*said: Said) -> Conversation:
    """Texts of the asker; ("assistant", text) is the bot's."""
    turns = [Turn("user", one) if isinstance(one, str) else Turn(one[0], one[1]) for one in said]  # type: ignore[arg-type]
    return Conversation(turns=tuple(turns), tenant="default", request_id="r-1")
