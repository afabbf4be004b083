"""A stand-in for a language model that judges: it counts shared words, and one reply in ten is nonsense.

No model: it shows that the way there and back works, and what becomes of nonsense. Its points say nothing.

    python -m tests.played_examiner     # prints where it listens, until it is stopped
"""

from __future__ import annotations

import json
import re
import threading
from typing import Any

from tests.chatbot import Asked, Chatbot, Reply, Says

NONSENSE_EVERY = 10


class PlayedExaminer(Chatbot):
    """Answers the prompts `points`, `context_rating` and `context_rating_again`."""

    def _reply_to(self, asked: Asked) -> Reply:
        if len(self.asked) % NONSENSE_EVERY == 0:
            return Says("As a language model, I would rather talk about the weather.")
        wanted = asked.body["response_format"]["json_schema"]["name"]
        return Says(json.dumps(_judged(wanted, json.loads(asked.question))))


def _judged(wanted: str, given: dict[str, Any]) -> dict[str, Any]:
    if wanted == "points":
        shared = _shared(given["ground_truth"] or "", given["answer"])
        return {
            "comment": f"{shared:.0%} of the ground truth's pairs of characters.",
            "points": round(10 * shared),
        }
    texts = [text for name, text in given.items() if name != "user_input"]
    return {"rating": min(2, int(3 * _shared(given["user_input"], json.dumps(texts, ensure_ascii=False))))}


def _shared(wanted: str, text: str) -> float:
    words = re.sub(r"\W", "", wanted.lower())
    pairs = {words[at : at + 2] for at in range(len(words) - 1)}
    return sum(pair in re.sub(r"\W", "", text.lower()) for pair in pairs) / max(1, len(pairs))


if __name__ == "__main__":
    with PlayedExaminer() as examiner:
        print(examiner.base_url, flush=True)  # noqa: T201
        threading.Event().wait()
