"""Whether the questions of a shelf still are what they were: a conformal test martingale on the best score.

Each looked-up question has a best score, 0 where no entry is near; its rank among all those before it is a
p-value. As long as the questions are exchangeable, these p-values are independent and uniform, whatever the
scores look like (Vovk, Gammerman, Shafer 2005). Three gamblers bet that they lean low, lean high or don't,
and hand over a little of their money after each question (the Simple Jumper of Vovk et al. 2021). Their
capital feeds a Shiryaev-Roberts statistic, which grows by one a question at most on average, so that the
probability of a false alarm within n questions is at most n / `FALSE_ALARM_EVERY`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

__all__ = ["FALSE_ALARM_EVERY", "Drift"]

FALSE_ALARM_EVERY = 100_000  # questions, on average and at the earliest, while nothing changes
_BINS = 100  # scores that fall together are ranked by lot, which costs power and no validity
_LOGIT = 7.0  # beyond that, scores near 0 and 1 differ in nothing that matters
_LEANINGS = (-1.0, 0.0, 1.0)  # the density that a gambler bets on is 1 + leaning * (p - 1/2)
_JUMP = 0.01  # of the capital, shared out after every question
_CEILING = 1e3 * FALSE_ALARM_EVERY  # so that an alarm ends once the new questions have become the usual ones


@dataclass(slots=True)
class Drift:
    """What was seen so far. Fits into a small JSON object and goes on from there."""

    counts: list[int] = field(default_factory=lambda: [0] * _BINS)
    shares: list[float] = field(default_factory=lambda: [1 / len(_LEANINGS)] * len(_LEANINGS))
    statistic: float = 0.0

    @property
    def alarm(self) -> bool:
        """Whether the questions have changed, as far as the statistic can tell."""
        return self.statistic >= FALSE_ALARM_EVERY

    def see(self, score: float, *, lot: float) -> None:
        """Take in the best score of a question (0..1); `lot` is a fresh random number in [0, 1)."""
        place = _bin(score)
        self.counts[place] += 1
        higher = sum(self.counts[place + 1 :])
        p = (higher + lot * self.counts[place]) / sum(self.counts)
        grown = [
            share * (1 + leaning * (p - 0.5)) for share, leaning in zip(self.shares, _LEANINGS, strict=True)
        ]
        growth = sum(grown)
        self.statistic = min((self.statistic + 1) * growth, _CEILING)
        self.shares = [(1 - _JUMP) * one / growth + _JUMP / len(grown) for one in grown]

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return {"counts": self.counts, "shares": self.shares, "statistic": self.statistic}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """The state as it was kept; a new one where there is none, or where it was kept in another form."""
        counts = kept.get("counts", [])
        return cls(list(counts), list(kept["shares"]), kept["statistic"]) if len(counts) == _BINS else cls()


def _bin(score: float) -> int:
    held = min(max(score, 1e-12), 1 - 1e-12)
    logit = math.log(held / (1 - held))
    return min(max(int((logit / _LOGIT + 1) / 2 * _BINS), 0), _BINS - 1)
