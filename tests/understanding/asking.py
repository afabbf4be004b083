"""Conversations in one line, and what judges them."""

from __future__ import annotations

from functools import cache

from encoders.shipped import load_shipped_leaning
from gateway.domain import Conversation, Turn
from gateway.understanding.follow_ups import FollowUps
from gateway.understanding.weighing import Caution

Said = str | tuple[str, str]


@cache
def follow_ups(caution: Caution = "strict") -> FollowUps:
    """The shipped model and weights."""
    return FollowUps(load_shipped_leaning(), caution)


def conversation(*said: Said) -> Conversation:
    """Texts of the asker; ("assistant", text) is the bot's."""
    turns = [Turn("user", one) if isinstance(one, str) else Turn(one[0], one[1]) for one in said]  # type: ignore[arg-type]
    return Conversation(turns=tuple(turns), tenant="default", request_id="r-1")
