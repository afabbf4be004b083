"""A gate that reads verified entries goes on where they can't be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from encoders import Encoded, EncoderError
from gateway.gatekeeping.scope import EntryScope
from storage.vectors import IndexUnavailable


class BrokenShelf:
    """A shelf whose exact tier works and whose index or encoder doesn't."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    async def exact(self, question: Encoded, **_: Any) -> None:
        return None

    async def by_evidence(self, question: Encoded, **_: Any) -> None:
        raise self.failure


@pytest.mark.parametrize(
    "failure", [IndexUnavailable("locked"), EncoderError("the encoder is gone")], ids=str
)
async def test_no_entry_is_shown_where_none_can_be_found(failure: Exception) -> None:
    scope = EntryScope(BrokenShelf(failure))  # type: ignore[arg-type]
    assert await scope.near(Encoded("How do I pay?", np.ones(2, np.float32)), tenant="shop") == ()
