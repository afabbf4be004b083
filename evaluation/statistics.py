"""Rates with intervals, and how well scores rank. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, rankdata

__all__ = ["Rate", "auroc", "auroc_within_group", "percentiles", "recall_at_false_positive_rate"]


@dataclass(frozen=True, slots=True)
class Rate:
    """A count out of n. `value` is None where n is 0: no rate was observed, which is not 0."""

    count: int
    n: int

    @property
    def value(self) -> float | None:
        """The observed share, 0..1."""
        return self.count / self.n if self.n else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Wilson's score interval at 95 % (Wilson 1927)."""
        if not self.n:
            return None
        interval = binomtest(self.count, self.n).proportion_ci(confidence_level=0.95, method="wilson")
        return float(interval.low), float(interval.high)

    def __str__(self) -> str:
        if self.value is None or self.ci95 is None:
            return "– (0 cases)"
        low, high = self.ci95
        return f"{self.value:6.1%}  [{low:.1%}, {high:.1%}]"


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """P(score of a positive > score of a negative), ties half (Mann-Whitney); None without both kinds."""
    if not len(positive) or not len(negative):
        return None
    concordant, pairs = _concordant(positive, negative)
    return concordant / pairs


def auroc_within_group(
    scores: Sequence[float], positive: Sequence[bool], groups: Sequence[str]
) -> float | None:
    """As `auroc`, but only pairs of one group are compared: knowing the group helps nobody."""
    total, all_pairs = 0.0, 0
    for group in sorted(set(groups)):
        of_group = [
            (score, is_positive)
            for score, is_positive, name in zip(scores, positive, groups, strict=True)
            if name == group
        ]
        high = [score for score, is_positive in of_group if is_positive]
        low = [score for score, is_positive in of_group if not is_positive]
        if high and low:
            concordant, pairs = _concordant(high, low)
            total, all_pairs = total + concordant, all_pairs + pairs
    return total / all_pairs if all_pairs else None


def recall_at_false_positive_rate(
    positive: Sequence[float], negative: Sequence[float], rate: float
) -> float | None:
    """Share of positives above the lowest cut that flags at most `rate` of the negatives."""
    if not len(positive) or not len(negative):
        return None
    allowed = int(rate * len(negative))
    cut = np.sort(np.asarray(negative))[::-1][allowed]  # strictly above it lie at most `allowed` negatives
    return float(np.mean(np.asarray(positive) > cut))


def percentiles(milliseconds: Iterable[float]) -> dict[str, float]:
    """p50 and p95, in the unit given."""
    found = np.asarray(list(milliseconds))
    return {f"p{q}": round(float(np.percentile(found, q)), 3) if found.size else 0.0 for q in (50, 95)}


def _concordant(positive: Sequence[float], negative: Sequence[float]) -> tuple[float, int]:
    ranks = rankdata([*positive, *negative])
    wins = float(ranks[: len(positive)].sum()) - len(positive) * (len(positive) + 1) / 2
    return wins, len(positive) * len(negative)
