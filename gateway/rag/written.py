"""What a model wrote; of what its limit cut off, the sentences it finished, which alone can be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gateway.models.completions import Completion
from gateway.streaming import finished_part

__all__ = ["Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as far as it is one."""

    text: str
    unfinished: str | None = None  # what came after it before the limit; None: it was written to its end

    @classmethod
    def of(cls, completion: Completion) -> Self:
        """What of a completion is an answer."""
        if not completion.cut_off:
            return cls(completion.text)
        text = completion.text[: finished_part(completion.text)].rstrip()
        return cls(text, completion.text[len(text) :])

    @property
    def unreadable(self) -> str:
        """Why there is nothing to judge, as a draft says it."""
        return "" if self.text else "cut_off"
