"""The first axis: is the question ours? Examples, descriptions, entries and passages, weighed together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from classifiers.conformal import least_cases
from classifiers.gate import Neighbour
from classifiers.gate.combiner import Combiner, tail_floor
from classifiers.gate.contrast import Contrast, Nearest
from classifiers.gate.evidence import (
    Grounds,
    near_rule,
    scope_features,
    scope_rule,
    told_by_passages,
    with_gaps,
)
from classifiers.gate.leaning import LEANING_FEATURES, Leaning
from classifiers.gate.lexical import lexical_share
from encoders import Encoded

__all__ = [
    "FEW",
    "LEAST_CUT",
    "LEAST_OTHERS",
    "LEAST_OURS",
    "UNSURE",
    "Reading",
    "Scope",
    "ScopeReading",
    "Training",
    "fit_scope",
]

Floats = NDArray[np.float64]

_RULE_CUT = 0.5  # without enough must examples for a promise
LEAST_CUT = 0.3  # below lies what two or more everyday questions in ten reach
LEAST_OURS = 5  # must examples; below, the rule alone decides
FEW = 50  # must examples; fewer cannot show all of what is ours
_LEAST_NEAR = 30  # of them, to learn what tells them from what looks like them
LEAST_OTHERS = 20  # counter-examples of a sort
_STIFFNESS = 0.1  # how many examples a unit of the rule's weights is worth
_LOW = 0.02
_LOWEST_FAR = -1.5  # logit; a few strange examples must not open the gate to everyday questions
_NAMED = 5  # examples that a note names
UNSURE = 0.6  # times the cut: what lies below is called "may" outright


@dataclass(frozen=True, slots=True)
class Training:
    """Evidence to fit on, one row per text, none compared with itself."""

    ours: Floats
    near: Floats  # the operator's may examples
    unsupported: Floats  # must examples whose document was taken away
    far: Floats  # everyday questions and attacks


@dataclass(frozen=True, slots=True)
class Reading:
    """A combiner on a scale that two combiners share: 0.5 where few of our own questions lie lower.

    Without it, whichever of the two has the more extreme outliers would decide alone.
    """

    combiner: Combiner
    low: float  # logit that few of our questions lie under
    middle: float  # logit of the median of our questions

    def scores(self, features: Floats) -> Floats:
        """One score per row."""
        return self.of(self.combiner.logits(features))

    def despite_silence(self, features: Floats, covered: float) -> Floats:
        """One score per row, where documents speak of this share of our questions only."""
        told = told_by_passages(self.combiner, features)
        return self.of(self.combiner.logits(features) - told + with_gaps(told, covered))

    def of(self, logits: Floats) -> Floats:
        """The scores of logits: 0.5 at `low`, 0.88 at `middle`."""
        return np.asarray(expit(2 * (logits - self.low) / max(self.middle - self.low, 0.5)), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeReading:
    """Where a question lies on the axis of scope."""

    score: float
    despite_silence: float  # the same where the documents' silence tells no more than their gaps allow
    nearest: Neighbour | None  # what speaks for it most
    against: Neighbour | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The axis of scope, fitted."""

    contrast: Contrast
    leaning: Leaning | None
    near: Reading  # ours, and not one of those that look like ours
    supported: Reading | None  # ours, and not about a document that we do not hold
    far: Reading  # ours, and not what people ask any chatbot
    cut: float
    grounds: Grounds
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether the cut lies where the examples ask for it."""
        return not self.notes

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All of them must speak for a question: each knows another way of not being ours."""
        return (self.near, self.far, *([self.supported] if self.supported else []))

    def read(self, question: Encoded, normalised: str, found: Sequence[Neighbour]) -> ScopeReading:
        """How much speaks for the question being ours, and what does most."""
        near = self.contrast.compared(question.vector[None, :], [normalised])
        contrasted, nearest, against = self.contrast.weighed(near, normalised)
        leaning = self.leaning.of(near)[0] if self.leaning else np.full(len(LEANING_FEATURES), np.nan)
        row = scope_features(contrasted, leaning, found, self.grounds)[None, :]
        score = float(min(reading.scores(row)[0] for reading in self.readings))
        samples = [_as_neighbour(question, nearest)] if nearest else []
        return ScopeReading(
            score=score,
            despite_silence=self._despite_silence(score, contrasted, leaning, found),
            nearest=max((*found, *samples), key=lambda n: n.similarity + n.lexical, default=None),
            against=_as_neighbour(question, against) if against else None,
        )

    def _despite_silence(
        self, score: float, contrasted: Floats, leaning: Floats, found: Sequence[Neighbour]
    ) -> float:
        """Where documents are silent the examples have to speak, however few they are."""
        if self.grounds.covered == 1.0:
            return score
        row = scope_features(contrasted, leaning, found, replace(self.grounds, few=False))[None, :]
        forgiven = min(each.despite_silence(row, self.grounds.covered)[0] for each in self.readings)
        return max(score, float(forgiven))


def fit_scope(
    contrast: Contrast,
    leaning: Leaning | None,
    training: Training,
    grounds: Grounds,
    *,
    examples: Sequence[str],
    max_false_refusal: float,
) -> Scope:
    """Fit the weights if the examples allow, and cut where the promise of false refusals is kept.

    Args:
        examples: the texts of what is ours, in the order of `training.ours`.
    """
    ours = training.ours
    near = _fitted(ours, training.near, least=_LEAST_NEAR, start=near_rule())
    far = _fitted(ours, training.far, least=LEAST_OURS, lowest=_LOWEST_FAR, by_spread=grounds.few)
    enough = len(ours) >= _LEAST_NEAR and len(training.unsupported) >= LEAST_OTHERS
    supported = _fitted(ours, training.unsupported, least=_LEAST_NEAR) if enough else None
    held_out = np.min([fitted[1] for fitted in (near, far, supported) if fitted], axis=0)
    cut = tail_floor(held_out, max_false_refusal)
    if cut is None:  # no promise can be made: what lies with the least of our own examples may pass
        cut = min(held_out.min(initial=_RULE_CUT), _RULE_CUT)
    strangers = [text for text, score in zip(examples, held_out, strict=True) if score < LEAST_CUT]
    return Scope(
        contrast=contrast,
        leaning=leaning,
        near=near[0],
        far=far[0],
        supported=supported[0] if supported else None,
        cut=max(float(cut), LEAST_CUT),
        grounds=grounds,
        notes=_strange(strangers) if cut < LEAST_CUT else (),
    )


def _fitted(
    ours: Floats,
    others: Floats,
    *,
    least: int,
    start: Combiner | None = None,
    lowest: float = -np.inf,
    by_spread: bool = False,
) -> tuple[Reading, Floats]:
    """A combiner on its scale, and the scores of our own examples by combiners that did not see them."""
    rule = scope_rule()
    if len(ours) < least or len(others) < LEAST_OTHERS:
        reading = Reading(rule, 0.0, 2.0)
        return reading, reading.of(rule.logits(ours))
    features = np.concatenate([ours, others])
    truth = np.arange(len(features)) < len(ours)
    start = start or rule
    held_out = start.cross_fitted(features, truth, stiffness=_STIFFNESS)[truth]
    low, middle = _least(held_out, by_spread=by_spread), np.median(held_out)
    fitted = start.fitted(features, truth, stiffness=_STIFFNESS)
    reading = Reading(fitted, max(float(low), lowest), float(middle))
    return reading, reading.of(held_out)


def _least(logits: Floats, *, by_spread: bool) -> float:
    """What few of our questions lie under; a handful of examples tells it by its spread."""
    count = len(logits)
    if not by_spread or count >= least_cases(_LOW):
        return float(np.quantile(logits, _LOW))
    spread = float(np.std(logits, ddof=1)) * math.sqrt(1 + 1 / count)
    return float(logits.mean() + stdtrit(count - 1, _LOW) * spread)


def _strange(texts: Sequence[str]) -> tuple[str, ...]:
    if not texts:
        return ()
    named = ", ".join(f"“{text}”" for text in texts[:_NAMED])
    return (
        f"{len(texts)} of the must examples look like nothing else in the policy or the documents ({named}"
        f"{', …' if len(texts) > _NAMED else ''}); questions like them are refused, since the cut that lets "
        "them pass lets everything pass: add more of their kind",
    )


def _as_neighbour(question: Encoded, near: Nearest) -> Neighbour:
    return near.sample.neighbour(near.similarity, lexical_share(question.text, near.sample.text))
