"""Questions as the pipeline would ask them, and the writer that quotes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from encoders import Encoded
from encoders.pairs import PairModel
from encoders.testing import HashingEncoder
from gateway.domain import Conversation, Question, Turn
from gateway.rag.quoting import ExtractiveWriter


def question(text: str, *earlier: Turn, language: str = "en", **options: object) -> Question:
    conversation = Conversation(
        turns=(*earlier, Turn("user", f"Hello! {text}")), tenant="default", request_id="r-1", options=options
    )
    return Question(text=text, language=language, conversation=conversation)


def encoded(text: str) -> Encoded:
    return Encoded(text, np.zeros(HashingEncoder().identity.dimensions, dtype=np.float32))


class TakesAll:
    """A model of answers that takes everything for one, so that words and meaning alone choose."""

    languages = ("en", "ja", "zh")
    digest = "all"

    async def scores(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]:
        return np.full(len(pairs), 2.0)


def quoting(reader: PairModel | None = None) -> ExtractiveWriter:
    return ExtractiveWriter(HashingEncoder(), reader or TakesAll())
