"""Whether the passages that were found can answer the question (the evaluator of CRAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from encoders import Encoded

__all__ = ["PATH_SEPARATOR", "PassageEvidence", "RelevanceJudge", "RelevanceVerdict", "under_headings"]


PATH_SEPARATOR = " › "  # between the headings above a passage


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """A retrieved passage as the judge sees it."""

    text: str
    heading: str = ""  # the title and the headings above it, joined by PATH_SEPARATOR

    @property
    def last_heading(self) -> str:
        """The heading right above it."""
        return self.heading.rpartition(PATH_SEPARATOR)[2]

    @property
    def shown(self) -> str:
        """It under its headings."""
        return self.headed(self.text)

    def headed(self, piece: str) -> str:
        """A piece of it under its headings."""
        return under_headings(self.heading, piece)


def under_headings(heading: str, text: str) -> str:
    """A passage as it is embedded, searched and shown: under the headings that say what it is about."""
    return f"{heading}\n{text}" if heading else text


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceVerdict:
    """Yan et al. 2024, Corrective RAG: one score per passage, three actions."""

    label: Literal["correct", "ambiguous", "incorrect"]
    scores: tuple[float, ...]  # 0..1, one per passage, in the given order
    reason: str
    judge: str

    @property
    def best(self) -> int:
        """Which passage has the highest score, the first one of several. There must be one."""
        return max(range(len(self.scores)), key=lambda at: self.scores[at])


class RelevanceJudge(Protocol):
    """Judges passages, best ones first, against a question. Raises `ClassifierError` when it cannot run."""

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict: ...
