"""Questions as the pipeline would ask them."""

from __future__ import annotations

import numpy as np

from encoders import Encoded
from gateway.domain import Conversation, Question, Turn


def question(text: str, *earlier: Turn, language: str = "en", **options: object) -> Question:
    conversation = Conversation(
        turns=(*earlier, Turn("user", f"Hello! {text}")), tenant="default", request_id="r-1", options=options
    )
    return Question(text=text, language=language, conversation=conversation)


def encoded(text: str) -> Encoded:
    return Encoded(text, np.zeros(4, dtype=np.float32))
