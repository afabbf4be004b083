"""Rates with intervals, and how well scores rank. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import rankdata

from gateway.figures.rates import Rate

__all__ = ["Rate", "auroc", "auroc_within_group", "percentiles", "recall_at_false_positive_rate"]


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
