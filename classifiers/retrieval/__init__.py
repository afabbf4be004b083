"""Whether the passages that were found can answer the question (the evaluator of CRAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from encoders import Encoded

__all__ = ["PassageEvidence", "RelevanceJudge", "RelevanceVerdict"]


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """A retrieved passage as the judge sees it."""

    text: str
    similarity: float  # cosine to the question
    bm25: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceVerdict:
    """Yan et al. 2024, Corrective RAG: one score per passage, three actions."""

    label: Literal["correct", "ambiguous", "incorrect"]
    scores: tuple[float, ...]  # 0..1, one per passage, in the given order
    reason: str
    judge: str


class RelevanceJudge(Protocol):
    """Judges passages against a question. Raises `ClassifierError` when it cannot run."""

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict: ...
