"""A language model for tests: it is none, it says what the test put here, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from classifiers import ClassifierError

Reply = str | Mapping[str, Any] | Exception | float  # a float: so many seconds of silence


@dataclass
class SaidModel:
    """Answers the step for statements and the step for verdicts, each from its own list; the last one repeats."""

    statements: Sequence[Reply] = ()
    verdicts: Sequence[Reply] = ()
    model: str = "said"
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)  # form, system, user

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        step = response_format["json_schema"]["name"]
        before = sum(name == step for name, _, _ in self.asked)
        self.asked.append((step, system, json.loads(user)))
        replies = self.statements if step == "statements" else self.verdicts
        reply = replies[min(before, len(replies) - 1)]
        if isinstance(reply, float):
            await asyncio.sleep(reply)
            raise ClassifierError("silence")
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)

    def of(self, step: str) -> list[dict[str, Any]]:
        """What was asked in a step."""
        return [user for name, _, user in self.asked if name == step]


def verdicts(*values: Any) -> dict[str, Any]:
    """A reply with a verdict for each statement in order, as it was asked for."""
    return {
        "statements": [
            {"index": at, "reason": f"reason {at}", "verdict": value} for at, value in enumerate(values, 1)
        ]
    }
