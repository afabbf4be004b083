"""Two judges: the cheap one decides what it is sure of, the dear one is asked about the rest, all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessJudge, FaithfulnessVerdict, StatementVerdict, verdict_of
from classifiers.faithfulness.statements import Statement, statements

__all__ = ["CascadeJudge", "Decided", "JudgesStatements"]

Decided = Literal["first", "second", "nobody"]


class JudgesStatements(Protocol):
    """Judges statements that somebody else took out of an answer."""

    @property
    def name(self) -> str: ...

    async def verdicts(
        self, found: Sequence[Statement], contexts: Sequence[str], /
    ) -> tuple[StatementVerdict, ...]:
        """A verdict on each, in order.

        Raises:
            ClassifierError: when the judge cannot run.
        """
        ...


class CascadeJudge:
    """A `FaithfulnessJudge` of two.

    Args:
        supported_from: probability of support from which on the first judge's "supported" stands.
        unsupported_below: probability below which its "unsupported" stands.
        on_decided: is told by whom how many statements of an answer were decided.
    """

    def __init__(
        self,
        first: FaithfulnessJudge,
        second: JudgesStatements,
        *,
        supported_from: float = 0.9,
        unsupported_below: float = 0.1,
        on_decided: Callable[[Mapping[Decided, int]], object] = lambda decided: None,
    ) -> None:
        self._first = first
        self._second = second
        self._supported_from = supported_from
        self._unsupported_below = unsupported_below
        self._on_decided = on_decided

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """The first judge's verdict, with the second's on the statements that the first is unsure of."""
        verdict = await self._first.judge(answer, contexts, question=question)
        unsure = [at for at, one in enumerate(verdict.statements) if not self._is_sure(one)]
        if not unsure:
            self._on_decided({"first": len(verdict.statements)})
            return verdict
        merged = list(verdict.statements)
        own = statements(answer, question or "")
        second = await self._second_says(own, contexts, verdict, unsure)
        for at, said in zip(unsure, second, strict=True):
            merged[at] = said
        nobody = sum(merged[at].state == "unchecked" for at in unsure)
        self._on_decided(
            {"first": len(merged) - len(unsure), "second": len(unsure) - nobody, "nobody": nobody}
        )
        return verdict_of(merged, judge=f"{verdict.judge} {self._second.name}")

    def _is_sure(self, one: StatementVerdict) -> bool:
        if one.score is None:
            return False
        if one.state == "supported":
            return one.score >= self._supported_from
        return one.state == "unsupported" and one.score < self._unsupported_below

    async def _second_says(
        self,
        own: Sequence[Statement],
        contexts: Sequence[str],
        verdict: FaithfulnessVerdict,
        unsure: Sequence[int],
    ) -> Sequence[StatementVerdict]:
        """In the first judge's words and places. If the second can't be asked, nobody has checked these."""
        known = {(one.start, one.end): one for one in own}
        first = [verdict.statements[at] for at in unsure]
        asked = [known.get((one.start, one.end), Statement(one.text, one.start, one.end)) for one in first]
        try:
            said = await self._second.verdicts(asked, contexts)
        except ClassifierError as exc:
            return [
                replace(one, state="unchecked", reason=str(exc), judge=self._second.name) for one in first
            ]
        return [
            replace(theirs, text=mine.text, score=mine.score if theirs.score is None else theirs.score)
            for mine, theirs in zip(first, said, strict=True)
        ]
