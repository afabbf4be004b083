"""Rates with intervals, and how well scores rank. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from gateway.figures.rates import Rate

__all__ = [
    "Estimate",
    "Rate",
    "auroc",
    "auroc_within_group",
    "estimate",
    "f1",
    "percentiles",
    "recall_at_false_positive_rate",
]

_DRAWS = 1_000
_Flags = Sequence[bool] | NDArray[np.bool_]
_Scores = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure that is no share of cases, with its 95 % interval. `value` is None without cases to count."""

    value: float | None
    ci95: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        return f"{self.value:.3f}" + (f" [{self.ci95[0]:.3f}, {self.ci95[1]:.3f}]" if self.ci95 else "")


def estimate(statistic: Callable[[NDArray[np.intp]], float | None], n: int) -> Estimate:
    """A statistic of n cases by their indices, between its percentiles over draws of n with replacement.

    The bootstrap (Efron 1979), with a fixed seed: two runs say the same.
    """
    if not n or (value := statistic(np.arange(n))) is None:
        return Estimate(None)
    rng = np.random.default_rng(0)
    drawn = [statistic(rng.integers(n, size=n)) for _ in range(_DRAWS)]
    known = [each for each in drawn if each is not None]
    low, high = np.percentile(known, (2.5, 97.5)) if known else (value, value)
    return Estimate(value, (float(low), float(high)))


def auroc(positive: _Scores, negative: _Scores) -> float | None:
    """P(score of a positive > score of a negative), ties half (Mann-Whitney); None without both kinds."""
    if not len(positive) or not len(negative):
        return None
    concordant, pairs = _concordant(positive, negative)
    return concordant / pairs


def auroc_within_group(
    scores: _Scores, positive: _Flags, groups: Sequence[str] | NDArray[np.str_]
) -> float | None:
    """As `auroc`, but only pairs of one group are compared: knowing the group helps nobody."""
    scored, are, names = np.asarray(scores, float), np.asarray(positive, bool), np.asarray(groups)
    total, all_pairs = 0.0, 0
    for group in np.unique(names):
        high, low = scored[(names == group) & are], scored[(names == group) & ~are]
        if high.size and low.size:
            concordant, pairs = _concordant(high, low)
            total, all_pairs = total + concordant, all_pairs + pairs
    return total / all_pairs if all_pairs else None


def recall_at_false_positive_rate(positive: _Scores, negative: _Scores, rate: float) -> float | None:
    """Share of positives above the lowest cut that flags at most `rate` of the negatives."""
    if not len(positive) or not len(negative):
        return None
    allowed = int(rate * len(negative))
    cut = np.sort(np.asarray(negative))[::-1][allowed]  # strictly above it lie at most `allowed` negatives
    return float(np.mean(np.asarray(positive) > cut))


def f1(flags: _Flags, positive: _Flags) -> float | None:
    """Harmonic mean of precision and recall; None where nothing is positive and nothing flagged."""
    flagged, are = np.asarray(flags, bool), np.asarray(positive, bool)
    total = int(flagged.sum() + are.sum())
    return 2 * int((flagged & are).sum()) / total if total else None


def percentiles(milliseconds: Iterable[float]) -> dict[str, float]:
    """p50 and p95, in the unit given."""
    found = np.asarray(list(milliseconds))
    return {f"p{q}": round(float(np.percentile(found, q)), 3) if found.size else 0.0 for q in (50, 95)}


def _concordant(positive: _Scores, negative: _Scores) -> tuple[float, int]:
    ranks = rankdata([*positive, *negative])
    wins = float(ranks[: len(positive)].sum()) - len(positive) * (len(positive) + 1) / 2
    return wins, len(positive) * len(negative)
