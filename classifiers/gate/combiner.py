"""From evidence to a score: a logistic regression that starts from stated weights and yields to data.

With no data it is a documented rule. Examples pull the weights away from the rule, as far as they agree.
Evidence that could not be looked for is NaN and counts for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from classifiers.conformal import allowed_outside, least_cases

__all__ = ["Combiner", "conformal_floor", "tail_floor"]

Floats = NDArray[np.float64]

_FOLDS = 5
_TAIL = 0.2  # share of the examples that tell how the lowest of them thin out


@dataclass(frozen=True, slots=True)
class Combiner:
    """logit = weights · (features - centre) + bias."""

    weights: Floats
    centre: Floats
    bias: float = 0.0

    def logits(self, features: Floats) -> Floats:
        """One logit per row."""
        return np.asarray(self.parts(features).sum(axis=1) + self.bias, dtype=np.float64)

    def parts(self, features: Floats) -> Floats:
        """What each piece of evidence adds to the logit of each row."""
        return self._centred(features) * self.weights

    def scores(self, features: Floats) -> Floats:
        """One probability per row, if both classes were equally likely."""
        return np.asarray(expit(self.logits(features)), dtype=np.float64)

    def _centred(self, features: Floats) -> Floats:
        return np.nan_to_num(features - self.centre, nan=0.0)

    def fitted(self, features: Floats, truth: NDArray[np.bool_], *, stiffness: float) -> Combiner:
        """The most likely weights, given these examples and a Gaussian belief around the present ones.

        Both classes count alike, however many examples each has. No piece of evidence changes sides: with few
        examples that is chance, and a question must not lose by resembling what is ours. What weighs nothing
        stays without weight.
        """
        centred = np.column_stack([self._centred(features), np.ones(len(features))])
        sign = np.where(truth, 1.0, -1.0)
        share = np.where(truth, 1 / max(truth.sum(), 1), 1 / max((~truth).sum(), 1)) * len(truth) / 2
        start = np.append(self.weights, self.bias)
        pull = np.append(
            np.full(len(self.weights), stiffness), stiffness / 10
        )  # the bias is the least certain

        def loss(weights: Floats) -> tuple[float, Floats]:
            margin = sign * (centred @ weights)
            away = weights - start
            value = -(share * log_expit(margin)).sum() + (pull * away**2).sum() / 2
            slope = -(share * sign * expit(-margin)) @ centred + pull * away
            return float(value), slope

        sides = [
            (0.0, None if weight > 0 else 0.0) if weight >= 0 else (None, 0.0) for weight in self.weights
        ]
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[*sides, (None, None)]).x
        return Combiner(found[:-1], self.centre, float(found[-1]))

    def cross_fitted(self, features: Floats, truth: NDArray[np.bool_], *, stiffness: float) -> Floats:
        """The logit of every example by weights that were fitted without it."""
        fold = np.zeros(len(truth), dtype=np.int_)
        for side in (truth, ~truth):
            fold[side] = np.random.default_rng(0).permutation(side.sum()) % _FOLDS
        logits = np.zeros(len(truth))
        for held_out in range(_FOLDS):
            inside = fold != held_out
            model = self.fitted(features[inside], truth[inside], stiffness=stiffness)
            logits[~inside] = model.logits(features[~inside])
        return logits


def conformal_floor(scores: Sequence[float] | Floats, error: float) -> float | None:
    """The cut that a new example of the same kind falls below with a chance of at most `error`.

    None if there are too few scores to promise that.
    """
    rank = allowed_outside(len(scores), error)
    return float(np.sort(np.asarray(scores))[rank - 1]) if rank >= 1 else None


def tail_floor(scores: Floats, error: float) -> float | None:
    """The cut that a new example of the same kind falls below with a chance of about `error`.

    Below the lowest fifth the odds are taken to thin out as a power (Hill 1975), so that the cut hangs on a
    fifth of the examples and not on the two or three strangest. The power is known from these few only: the
    chance is that of a new example over all that it may be. None if there are too few examples.
    """
    if len(scores) < least_cases(error):
        return None
    share = max(_TAIL, error)
    logits = logit(np.clip(scores, 1e-9, 1 - 1e-9))
    border = float(np.quantile(logits, share))
    below = border - logits[logits < border]
    steps = len(below) * math.expm1(math.log(share / error) / len(below)) if len(below) else 0.0
    return float(expit(border - steps * below.sum() / max(len(below), 1)))
