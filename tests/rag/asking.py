"""Questions as the pipeline would ask them, and the writer that quotes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from classifiers.gate.lexical import lexical_share
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from encoders import Encoded
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


class ByWords:
    """A judge for these tests: a passage answers if it holds most words of the question."""

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        scores = tuple(lexical_share(question.text, one.shown) for one in passages)
        good = max(scores, default=0.0) >= 0.4
        return RelevanceVerdict(
            label="correct" if good else "incorrect",
            scores=scores,
            reason="words in common" if good else "no word in common",
            judge="by-words@1",
        )


def quoting() -> ExtractiveWriter:
    return ExtractiveWriter(HashingEncoder(), ByWords())
