"""Conversations in one line, and what judges them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from encoders import EncoderError
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


class BrokenModel:
    """A model that can't be run."""

    languages, digest = ("en", "ja", "zh"), "none"

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        raise EncoderError("out of order")
