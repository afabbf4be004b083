"""Distributions as counts of bins, which add up over hours, shelves and gateways. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["FAITHFULNESS_BINS", "faithfulness_bin", "ms_bin", "percentile_ms"]

FAITHFULNESS_BINS = 21  # twentieths; the last one is F = 1 alone
_GROWTH = 1.1  # each bin of times ends 10 % above the last: a percentile is off by 5 % at most
_SHORTEST_MS = 0.01
_LONGEST = 200  # bin of 0.01 ms * 1.1**200, half an hour


def faithfulness_bin(share: float) -> int:
    """Which twentieth a share of supported statements falls into."""
    return min(max(int(share * 20 + 1e-9), 0), 20)


def ms_bin(ms: float) -> int:
    """Which of the growing bins a time falls into."""
    if ms <= _SHORTEST_MS:
        return 0
    return min(1 + int(math.log(ms / _SHORTEST_MS) / math.log(_GROWTH)), _LONGEST)


def percentile_ms(bins: Mapping[int, int], share: float) -> float | None:
    """The time that `share` of all stay under, within 5 %; None where there are none."""
    wanted, seen = share * sum(bins.values()), 0
    for place in sorted(bins):
        seen += bins[place]
        if seen and seen >= wanted:
            return _middle(place)
    return None


def _middle(place: int) -> float:
    return _SHORTEST_MS * _GROWTH ** (place - 0.5) if place else _SHORTEST_MS
