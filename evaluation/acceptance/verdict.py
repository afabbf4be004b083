"""What a blind test says: wins, ties and losses with exact intervals, non-inferiority, agreement.

A pair is won where the judges' votes for the gateway's answer outnumber those for the ground truth, lost the
other way round, else tied. Rates have Clopper and Pearson's exact intervals (Biometrika 1934). The gateway's
answers are *not inferior* if wins − losses, at its lower bound, lies above −margin; the bound is the exact
lower limit of the wins less the exact upper limit of the losses, each at 97.5 %, so it errs on the safe side
(Bonferroni). Agreement is Krippendorff's alpha over win, tie and loss as an interval scale, from NLTK.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scipy.stats import binomtest

from evaluation.acceptance.drawing import Key, gateway_side
from gateway.errors import InvalidRequest
from gateway.review.acceptance_tests import AcceptanceTest, Pair, Vote, chained, commitment_of

__all__ = ["JudgedPair", "Outcome", "Result", "agreement", "unblinded"]

Outcome = Literal["win", "tie", "loss"]
_SIGNS = {"win": 1, "tie": 0, "loss": -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair, whose answers are whose, and what was said."""

    pair: Pair
    gateway: str
    ground_truth: str
    outcome: Outcome | None  # None: nobody judged it
    votes: tuple[tuple[str, Outcome, str], ...]  # judge, vote, comment
    critical: bool  # somebody says that the gateway's answer would do harm
    truth_critical: bool  # that the ground truth would


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The whole test, told apart."""

    test: AcceptanceTest
    pairs: tuple[JudgedPair, ...]
    alpha: float | None

    def count(self, outcome: Outcome) -> int:
        """How many pairs ended so."""
        return sum(one.outcome == outcome for one in self.pairs)

    @property
    def judged(self) -> int:
        """Pairs with a vote."""
        return sum(one.outcome is not None for one in self.pairs)

    def interval(self, outcome: Outcome) -> tuple[float, float]:
        """Of the rate among the judged pairs, exact, at 95 %."""
        found = binomtest(self.count(outcome), self.judged).proportion_ci(0.95, method="exact")
        return float(found.low), float(found.high)

    @property
    def net(self) -> float:
        """Wins − losses, as a share of the judged pairs."""
        return (self.count("win") - self.count("loss")) / self.judged

    @property
    def net_at_least(self) -> float:
        """Its lower bound."""
        return self.interval("win")[0] - self.interval("loss")[1]

    @property
    def not_inferior(self) -> bool:
        """Whether the margin, stated before, is kept for certain."""
        return self.net_at_least > -self.test.margin

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        outcomes: tuple[Outcome, ...] = ("win", "tie", "loss")
        return {
            "test": self.test.id, "name": self.test.name, "n": len(self.pairs), "judged": self.judged,
            "judges": len(self.test.votes), "margin": self.test.margin,
            **{name: {"n": self.count(name), "ci95": self.interval(name)} for name in outcomes},
            "net": self.net, "net_at_least": self.net_at_least, "not_inferior": self.not_inferior,
            "krippendorff_alpha": self.alpha,
            "critical": [one.pair.case_id for one in self.pairs if one.critical],
            "lost": [one.pair.case_id for one in self.pairs if one.outcome == "loss"],
        }  # fmt: skip


def unblinded(test: AcceptanceTest, pairs: Sequence[Pair], votes: Sequence[Vote], key: Key) -> Result:
    """The result.

    Raises:
        InvalidRequest: the key is another test's, something was changed since, or nobody has judged.
    """
    if key.test != test.id:
        raise InvalidRequest(f"--key: expected the key of test {test.id}, found that of {key.test}")
    _untouched(test, pairs, votes, key)
    if not votes:
        raise InvalidRequest("nobody has judged yet")
    last = _last_votes(votes)
    told = tuple(_told_apart(pair, [one for one in last if one.number == pair.number], key) for pair in pairs)
    return Result(test=test, pairs=told, alpha=agreement(last, key))


def _untouched(test: AcceptanceTest, pairs: Sequence[Pair], votes: Sequence[Vote], key: Key) -> None:
    """Nothing is other than it was.

    Raises:
        InvalidRequest: saying what was changed.
    """
    commitment = commitment_of(pairs, margin=test.margin, key=key.secret)
    if not commitment == key.commitment == test.commitment:
        raise InvalidRequest("the pairs, the margin or the key are not those that the test began with")
    before = ""
    for place, vote in enumerate(votes, 1):
        if chained(before, vote) != vote.chain:
            raise InvalidRequest(
                f"vote {place} of {vote.by} on pair {vote.number} was changed, or one before it"
            )
        before = vote.chain


def _last_votes(votes: Sequence[Vote]) -> tuple[Vote, ...]:
    """Of each judge and pair the vote that counts."""
    return tuple({(one.by, one.number): one for one in votes}.values())


def agreement(votes: Sequence[Vote], key: Key) -> float | None:
    """Krippendorff's alpha; None where no pair has two judges, or all votes are alike."""
    by_pair = Counter(vote.number for vote in votes)
    rows = [(one.by, one.number, _SIGNS[_outcome(one, key)]) for one in votes if by_pair[one.number] > 1]
    if not rows or len({value for _, _, value in rows}) < 2:
        return None
    from nltk.metrics.agreement import AnnotationTask  # type: ignore[import-untyped]  # it ships no types
    from nltk.metrics.distance import interval_distance  # type: ignore[import-untyped]

    return float(AnnotationTask(rows, distance=interval_distance).alpha())


def _told_apart(pair: Pair, votes: Sequence[Vote], key: Key) -> JudgedPair:
    side = gateway_side(key.secret, pair.number)
    outcomes = [_outcome(vote, key) for vote in votes]
    sign = sum(_SIGNS[one] for one in outcomes)
    outcome: Outcome | None = None if not votes else ("win" if sign > 0 else "loss" if sign < 0 else "tie")
    other = "right" if side == "left" else "left"
    return JudgedPair(
        pair=pair,
        gateway=pair.left if side == "left" else pair.right,
        ground_truth=pair.right if side == "left" else pair.left,
        outcome=outcome,
        votes=tuple((vote.by, one, vote.comment) for vote, one in zip(votes, outcomes, strict=True)),
        critical=any(side in vote.critical for vote in votes),
        truth_critical=any(other in vote.critical for vote in votes),
    )


def _outcome(vote: Vote, key: Key) -> Outcome:
    if vote.better == "same":
        return "tie"
    return "win" if vote.better == gateway_side(key.secret, vote.number) else "loss"
