"""A gate that reads verified entries goes on where they can't be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from encoders import Encoded, EncoderError
from gateway.gatekeeping.scope import EntryScope
from storage.vectors import IndexUnavailable
from tests.gateway.running import Gateway, settings


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
    scope = EntryScope(BrokenShelf(failure), lambda text: "en")  # type: ignore[arg-type]
    assert await scope.near(Encoded("How do I pay?", np.ones(2, np.float32)), tenant="shop") == ()


def test_what_could_be_two_languages_is_looked_for_where_answers_are(tmp_path: Path) -> None:
    """“時間” may be Japanese or Chinese; every stage has to read it by the operator's default."""
    with (
        Gateway(
            settings(tmp_path, 'understanding: {default_language: "zh"}\ncache: {enabled: true}')
        ) as gateway,
        gateway.http("reviewer") as reviewer,
    ):
        entry = {"kind": "ground_truth", "phrasings": ["時間"], "answer": "9點到19點。", "state": "active"}
        assert reviewer.post("/v1/entries", json=entry).json()["entry"]["language"] == "zh"
        judged = reviewer.post("/v1/gate", json={"question": "時間"}).json()
        found = reviewer.post("/v1/cache/lookup", json={"question": "時間"}).json()
    assert (judged["label"], judged["nearest"]["kind"], found["type"]) == ("must", "entry", "hit")
