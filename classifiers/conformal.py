"""How many of n held-out cases may fall outside a cut, so that a new one does with a stated chance at most.

With n cases and a promise e, r = floor((n + 1) e) of them may. Where nothing but their order sets the cut,
the chance of a new case of the same kind to fall outside is r / (n + 1) at most, whatever the distribution
(split conformal prediction; Vovk et al. 2005). Over samples the share is Beta(r, n + 1 - r) distributed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import betaincinv

__all__ = ["TooFew", "allowed_outside", "at_most", "least_cases"]

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class TooFew:
    """No promise can be made from so few cases."""

    n: int
    needed: int


def allowed_outside(n: int, error: float) -> int:
    """How many of n may fall outside; 0: too few for a promise."""
    return math.floor((n + 1) * error + 1e-9)  # 100 times 0.29 is a hair less than 29


def least_cases(error: float) -> int:
    """The fewest cases of which one may fall outside."""
    return math.ceil(1 / error - 1e-9) - 1


def at_most(allowed: int, n: int) -> float:
    """The share of new cases outside, at 95 % confidence over samples of n."""
    return float(betaincinv(allowed, n + 1 - allowed, _CONFIDENCE))
