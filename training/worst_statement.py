"""Logistic weights of evidence, fitted so that the worst statement of an answer tells wrong answers.

What is fitted is the worst score of each answer, and beside it the score of every statement whose label is
known. Evidence only speaks against a statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from scipy.optimize import minimize

from training.judged_answers import Answer, Floats

__all__ = ["Fit", "fit"]

RIDGE: Final = 1e-2
STATEMENTS: Final = 0.5  # share of the loss that statements have beside answers


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights against support, their bias, and what makes the worst of an answer one of any statement."""

    weights: Floats
    bias: float
    single: float

    def worst(self, answers: Sequence[Answer]) -> Floats:
        """How suspicious the worst statement of each answer is, in log odds."""
        width = len(self.weights)
        return np.array(
            [(a.values[:, :width] @ self.weights).max() + self.bias + self.single for a in answers]
        )


def fit(answers: Sequence[Answer], weight: Floats, highest: Mapping[int, float], width: int) -> Fit:
    """Weights on the raw figures, none below 0.

    Args:
        weight: how much each answer counts; the sum is 1.
        highest: bounds of weights by the figure's place; 0 leaves it out.
        width: how many of the figures are weighed, from the first on.
    """
    x = np.concatenate([a.values[:, :width] for a in answers])
    starts = np.cumsum([0, *(len(a.values) for a in answers)])
    of_answer = np.repeat(np.arange(len(answers)), np.diff(starts))
    bad = np.array([float(not a.faithful) for a in answers])
    labels = [label for a in answers for label in a.unsupported]
    known = np.array([label is not None for label in labels]) * (weight / np.diff(starts))[of_answer]
    known /= known.sum()
    single_bad = np.array([float(bool(label)) for label in labels])
    mean, scale = x.mean(0), x.std(0) + 1e-6
    z = (x - mean) / scale

    def loss(p: Floats) -> tuple[float, Floats]:
        logit = z @ p[2:] + p[0]
        worst = np.array([a + int(logit[a:b].argmax()) for a, b in pairwise(starts)])
        of_answers, gap = _cross_entropy(logit[worst], bad, weight)
        of_singles, single_gap = _cross_entropy(logit + p[1], single_bad, known)
        share = STATEMENTS
        value = (1 - share) * of_answers + share * of_singles + RIDGE * float(p[2:] @ p[2:])
        slope = (1 - share) * (z[worst].T @ gap) + share * (z.T @ single_gap) + 2 * RIDGE * p[2:]
        bias = (1 - share) * gap.sum() + share * single_gap.sum()
        return value, np.r_[bias, share * single_gap.sum(), slope]

    free: tuple[None, None] = (None, None)
    bounds = [free, free, *((0.0, highest[n] * s if n in highest else None) for n, s in enumerate(scale))]
    p = minimize(loss, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = p[2:] / scale
    return Fit(weights, float(p[0] - weights @ mean), float(p[1]))


def _cross_entropy(logit: Floats, label: Floats, weight: Floats) -> tuple[float, Floats]:
    loss = float(weight @ (np.logaddexp(0, logit) - label * logit))
    return loss, weight * (1 / (1 + np.exp(-logit)) - label)
