"""The promise on supported answers that are kept back, held by one cut a language on answers people judged.

An answer is kept back or not by its critical cut: the highest at which its statements still let it pass,
which for "any unsupported statement blocks" is the score of its worst one. The cut is the r-th lowest
critical cut of n supported answers that the judge was not fitted on (`classifiers.conformal`). It is never so
low that nothing would be stopped: below a least cut the promise is not kept, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from classifiers.conformal import TooFew, allowed_outside, at_most, least_cases
from classifiers.faithfulness import (
    Checked,
    FaithfulnessJudge,
    FaithfulnessVerdict,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from languages.identification import script_language

__all__ = [
    "LEAST_CUT",
    "CalibratedJudge",
    "CutPromise",
    "CutsInForce",
    "at_cut",
    "critical_cut",
    "keep_promise",
    "language_of_answer",
]

# New parts that speak against a statement at any cut; the latter where the contexts tell them of something
# else: another name, a price of another thing. Of the answers in our test sets these are all that holds 211
# of 2,051 wrong ones so, and 39 of 2,010 right ones, which count as kept back.
_AGAINST = ("number", "unit", "negation", "opposite")
_AGAINST_IF_TOLD_OF_ANOTHER = ("name", "relation")
LEAST_CUT = 0.01  # scores below it stand for numbers, names and opposites that no passage has


class CutsInForce:
    """The cuts of a running judge by language, replaced while it runs; without one, the judge's own holds."""

    def __init__(self, present: Mapping[str, float] = MappingProxyType({})) -> None:
        self.present = present


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPromise:
    """The cut of a language, and what it promises."""

    cut: float
    error: float  # what was asked for: supported answers kept back, on average over samples of this size
    n: int
    blocked: int  # of these n
    on_average: float  # of new supported answers at most so many are kept back
    at_most: float  # the same at 95 % confidence
    needed: float | None = None  # the cut that would have kept the promise, if it is too low

    @property
    def kept(self) -> bool:
        """Whether the cut keeps what was asked for."""
        return self.needed is None


def keep_promise(critical: Sequence[float], error: float) -> CutPromise | TooFew:
    """The strictest cut that keeps back at most a share `error` of supported answers like these."""
    n = len(critical)
    allowed = allowed_outside(n, error)
    if allowed < 1:
        return TooFew(n, least_cases(error))
    wanted = sorted(critical)[allowed - 1]
    cut = max(wanted, LEAST_CUT)
    blocked = sum(one < cut for one in critical)
    if wanted < LEAST_CUT:  # a cut that was fixed before: one more than was seen (Clopper and Pearson 1934)
        allowed = blocked + 1
    return CutPromise(
        cut=cut,
        error=error,
        n=n,
        blocked=blocked,
        on_average=allowed / (n + 1),
        at_most=at_most(allowed, n),
        needed=max(wanted, 0.0) if wanted < LEAST_CUT else None,
    )


def critical_cut(verdict: Checked, *, share: float = 1.0) -> float | None:
    """The highest cut at which that share of the statements is supported; None where one has no score.

    Minus infinity: the answer is kept back whatever the cut.
    """
    scores = [
        -math.inf if _contradicted(one) else one.score for one in verdict.statements if one.score is not None
    ]
    if len(scores) < len(verdict.statements):
        return None
    needed = max(math.ceil(share * len(scores) - 1e-9), 1)
    return sorted(scores, reverse=True)[needed - 1]


def language_of_answer(answer: str, contexts: Sequence[str]) -> str:
    """By the writing of an answer; its contexts tell a Japanese one without kana from a Chinese one."""
    return script_language("\n".join([answer, *contexts]))


class CalibratedJudge:
    """A `FaithfulnessJudge` whose scores are cut elsewhere than it cuts itself."""

    def __init__(self, inner: FaithfulnessJudge, cuts: CutsInForce) -> None:
        self._inner = inner
        self.cuts = cuts

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """The inner verdict, at the cut for the answer's language."""
        verdict = await self._inner.judge(answer, contexts, question=question)
        cut = self.cuts.present.get(language_of_answer(answer, contexts))
        return verdict if cut is None else at_cut(verdict, cut)


def at_cut(verdict: FaithfulnessVerdict, cut: float) -> FaithfulnessVerdict:
    """The same scores, cut there."""
    statements = [_at_cut(one, cut) for one in verdict.statements]
    if isinstance(verdict, Unchecked) and not any(one.state == "unsupported" for one in statements):
        return replace(verdict, statements=tuple(statements))
    return verdict_of(statements, judge=verdict.judge)


def _at_cut(one: StatementVerdict, cut: float) -> StatementVerdict:
    if one.score is None or one.state == "unchecked" or _contradicted(one):
        return one
    if one.score >= cut:
        return one if one.supported else replace(one, state="supported", reason="supported")
    return replace(one, state="unsupported", reason="below_cut") if one.supported else one


def _contradicted(one: StatementVerdict) -> bool:
    """Unsupported for what the contexts have otherwise, however well the rest of it is covered."""
    return one.state == "unsupported" and any(
        part.kind in _AGAINST or (part.kind in _AGAINST_IF_TOLD_OF_ANOTHER and part.instead)
        for part in one.new
    )
