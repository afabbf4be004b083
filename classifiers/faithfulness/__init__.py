"""Whether the contexts support every statement of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Checked", "FaithfulnessJudge", "FaithfulnessVerdict", "StatementVerdict", "Unchecked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVerdict:
    """One individual statement, and the passage that supports it best."""

    text: str
    start: int  # character span in the answer
    end: int
    supported: bool
    score: float  # probability of support, 0..1
    reason: str  # what is new in it, or "supported"
    passage: int | None  # index of the best passage in the contexts
    evidence: str  # the best sentence of that passage, "" if none


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Every statement was judged. One unsupported statement is enough to fail."""

    passed: bool
    faithfulness: float  # F = supported statements / statements (RAGAS)
    score: float  # score of the worst statement, which decides; ranks answers
    statements: tuple[StatementVerdict, ...]  # never empty
    reason: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """No verdict: no contexts, or nothing to check. Not a pass."""

    reason: str
    judge: str


FaithfulnessVerdict = Checked | Unchecked


class FaithfulnessJudge(Protocol):
    """Judges an answer against the contexts it was written from.

    Raises:
        ClassifierError: when the judge cannot run.
    """

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict: ...
