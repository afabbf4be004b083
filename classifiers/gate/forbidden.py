"""The second axis: is the question on a forbidden topic, or an attack on the system?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from classifiers.gate import Neighbour
from classifiers.gate.combiner import Combiner, conformal_floor
from classifiers.gate.contrast import CONTRAST_FEATURES, Contrast, Sample
from classifiers.gate.lexical import lexical_share
from encoders import Encoded

__all__ = ["Forbidden", "ForbiddenReading", "fit_forbidden"]

Floats = NDArray[np.float64]

# Where each piece of evidence says nothing, and what a step of 1 from there counts, as in scope.py. There are
# always the shipped attacks to fit on, so this only steadies the fit.
_RULE: dict[str, tuple[float, float]] = {
    "meaning_for_nearest": (0.45, 5.0),
    "meaning_for_nearest_three": (0.40, 3.0),
    "meaning_for_density": (0.15, 2.0),
    "meaning_against_nearest": (0.45, -5.0),
    "meaning_against_nearest_three": (0.40, -3.0),
    "meaning_against_density": (0.15, -2.0),
    "wording_for_nearest": (0.20, 4.0),
    "wording_for_nearest_three": (0.15, 2.0),
    "wording_for_density": (0.05, 1.0),
    "wording_against_nearest": (0.20, -4.0),
    "wording_against_nearest_three": (0.15, -2.0),
    "wording_against_density": (0.05, -1.0),
}
_STIFFNESS = 0.02
_LEAST_CUT, _GREATEST_CUT = 0.6, 0.9
_UNTESTED_CUT = 0.88  # without enough of the operator's own questions to see what false alarms it would raise
_FALSE_ALARM = 0.01  # of the operator's questions: one that is called forbidden insults the asker
_FALSE_ALARM_LOOK_ALIKES = 0.05  # of texts chosen to sound alarming
_SUSPICION = 0.75  # times the cut: from here on a question goes to a person rather than to RAG


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenReading:
    """Where a question lies on the axis of what is forbidden."""

    score: float
    nearest: Neighbour | None

    @property
    def topic(self) -> str | None:
        """The topic of the nearest forbidden sample."""
        return self.nearest.source or None if self.nearest else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """The axis of what is forbidden, fitted."""

    contrast: Contrast
    combiner: Combiner
    cut: float

    @property
    def suspicious_from(self) -> float:
        """Between this and the cut the gate is unsure."""
        return self.cut * _SUSPICION

    def read(self, question: Encoded, normalised: str) -> ForbiddenReading:
        """How much the question looks like what is forbidden."""
        if not self.contrast.border:
            return ForbiddenReading(score=0.0, nearest=None)
        features, nearest, _ = self.contrast.evidence(question, normalised)
        return ForbiddenReading(
            score=float(self.combiner.scores(features[None, :])[0]),
            nearest=nearest.sample.neighbour(
                nearest.similarity, lexical_share(question.text, nearest.sample.text)
            )
            if nearest
            else None,
        )


def fit_forbidden(
    forbidden: Sequence[Sample],
    look_alikes: Sequence[Sample],
    theirs: Sequence[Sample],
) -> Forbidden:
    """Fit on left-out evidence.

    Args:
        look_alikes: shipped texts that must pass though they sound alarming; a few of them may be missed.
        theirs: the operator's must and may examples, of which next to none may be.
    """
    contrast = Contrast(forbidden, (*look_alikes, *theirs))
    rows = [
        contrast.left_out([sample for sample in group if sample.kind == "example"])
        for group in (forbidden, look_alikes, theirs)
    ]
    centre, weights = zip(*(_RULE[name] for name in CONTRAST_FEATURES), strict=True)
    rule = Combiner(np.array(weights), np.array(centre))
    truth = np.arange(sum(map(len, rows))) < len(rows[0])
    if not truth.any() or truth.all():
        return Forbidden(contrast=contrast, combiner=rule, cut=_LEAST_CUT)
    features = np.concatenate(rows)
    held_out = expit(rule.cross_fitted(features, truth, stiffness=_STIFFNESS))
    end = len(rows[0]) + len(rows[1])
    cuts = (
        _highest(held_out[len(rows[0]) : end], _FALSE_ALARM_LOOK_ALIKES),
        _highest(held_out[end:], _FALSE_ALARM),
    )
    return Forbidden(
        contrast=contrast,
        combiner=rule.fitted(features, truth, stiffness=_STIFFNESS),
        cut=float(np.clip(max(cuts), _LEAST_CUT, _GREATEST_CUT)),
    )


def _highest(scores: Floats, error: float) -> float:
    """The score that all but this share of harmless texts stay under."""
    floor = conformal_floor(-scores, error)
    return _UNTESTED_CUT if floor is None else -floor
