"""The second axis: is the question on a forbidden topic, or an attack on the system?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.special import logit as _logit

from classifiers.conformal import least_cases
from classifiers.gate import Neighbour
from classifiers.gate.combiner import Combiner, conformal_floor
from classifiers.gate.contrast import CONTRAST_FEATURES, Contrast, Sample
from classifiers.gate.detector import NO_PARTS, Parts
from classifiers.gate.leeway import NO_LEEWAY, Leeway, fit_leeway, leeway_to, names_a_thing
from classifiers.gate.lexical import lexical_share
from classifiers.gate.shipped import Attacks, Pattern
from classifiers.text import normalise
from encoders import Encoded

__all__ = ["Forbidden", "ForbiddenReading", "fit_forbidden", "unfitted_forbidden"]

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
_CUT = 0.8  # on the common scale of the axis, onto which similarity and detector are both brought
_LEAST_CUT, _GREATEST_CUT = 0.6, 0.9  # of similarity, before that
_UNTESTED_CUT = 0.88  # without enough of the operator's own questions to see what false alarms it would raise
_FALSE_ALARM = 0.01  # of the operator's questions: one that is called forbidden insults the asker
_SUSPECTED = 0.005  # of them, where there are enough: what is suspected is refused beside what scope refuses
_FALSE_ALARM_LOOK_ALIKES = 0.05  # of texts chosen to sound alarming
_MOST_RAISED = 2.5  # logits: a helpdesk for security raises the detector's cut, but cannot switch it off
_SUSPICION = (0.3, 0.7)  # from here on a question goes to a person: as low as the operator's questions allow
_UNTESTED_SUSPICION = (0.6, 0.4)  # by wording alone, and with vectors that the detector knows
_CONTAINED = 0.9  # share of a shipped attack's words; "how do I make …" alone makes no attack
_NAMED = 1.5  # logits by which the detector yields to a word or two; it learnt on sentences
_DOUBT = 0.79  # just below the cut: a person decides
_WORTH_A_LOOK = 0.1  # by the detector: below it no shipped attack is looked for, which takes a millisecond


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenReading:
    """Where a question lies on the axis of what is forbidden."""

    score: float
    nearest: Neighbour | None
    topic: str | None = None
    pattern: Pattern | None = None  # a known attack by its wording alone
    diffuse: bool = False  # it is long, and nothing in it looks forbidden by itself
    story: bool = False  # to the detector it is what customers tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """The axis of what is forbidden, fitted.

    The trained detector knows attacks and harm; similarity knows the operator's own topics from a few
    examples. The more suspicious of the two counts.
    """

    contrast: Contrast
    combiner: Combiner
    similar_from: float  # the combiner's score that is worth _CUT
    attacks: Attacks
    raised: float = 0.0  # by how many logits the operator's questions raise the detector's cut
    has_own: bool = False  # the operator wrote examples of what is forbidden
    knows_vectors: bool = False  # the detector was trained with the encoder of the questions
    suspicious_from: float = _UNTESTED_SUSPICION[0]  # between this and the cut the gate is unsure
    leeway: Leeway = NO_LEEWAY  # to what is like the operator's own questions

    @property
    def cut(self) -> float:
        """From here on a question is forbidden."""
        return _CUT

    def read(
        self, question: Encoded, normalised: str, hidden: Sequence[Encoded] = (), parts: Parts = NO_PARTS
    ) -> ForbiddenReading:
        """How much the question looks like what is forbidden, as it stands or in its `hidden` forms.

        `parts` are the vectors of what sounds suspicious in it.
        """
        detected = self._detected(question, normalised, hidden, parts)
        score, near, topic = 0.0, None, detected.topic if detected else None
        own = self.attacks.detector is None or self.has_own
        if own or (detected and detected.score >= _WORTH_A_LOOK):
            score, near, by_topic = self._similar(question, normalised)
            if detected is None or score >= detected.score:
                topic = by_topic
        pattern = self.attacks.matching(normalised, *(form.text for form in hidden))
        alone = detected if score < self.cut else None  # it alone forbids
        score = max(score, detected.score if detected else 0.0)
        return ForbiddenReading(
            score=score,
            nearest=near,
            topic=topic,
            pattern=pattern,
            diffuse=alone is not None and alone.diffuse,
            story=alone is not None and alone.story,
        )

    def _detected(
        self, question: Encoded, normalised: str, hidden: Sequence[Encoded], parts: Parts
    ) -> ForbiddenReading | None:
        """By the trained detector, if there is one."""
        if self.attacks.detector is None:
            return None
        forms = [Encoded(normalised, question.vector), *hidden]
        suspicion = self.attacks.detector.suspicion(forms, knows_vectors=self.knows_vectors, parts=parts)
        named = names_a_thing(normalised) and not hidden
        yielded = 0.0 if hidden else self.leeway.to(question)
        score = _scaled(suspicion.logit - self.raised - max(yielded, _NAMED * named), 0.5)
        if named or self.leeway.doubts(yielded):
            score = min(score, _DOUBT)
        diffuse = suspicion.diffuse and not hidden
        return ForbiddenReading(
            score=score, nearest=None, topic=suspicion.topic, diffuse=diffuse, story=suspicion.story
        )

    def _similar(self, question: Encoded, normalised: str) -> tuple[float, Neighbour | None, str | None]:
        """By similarity. Beside a detector a shipped attack counts only if the question says all it says."""
        if not self.contrast.border:
            return 0.0, None, None
        features, nearest, _ = self.contrast.evidence(question, normalised)
        if nearest is None:
            return 0.0, None, None
        sample = nearest.sample
        near = sample.neighbour(nearest.similarity, lexical_share(question.text, sample.text))
        judged = sample.ours or self.attacks.detector is None
        if not judged and (
            lexical_share(sample.text, question.text) < _CONTAINED or names_a_thing(normalised)
        ):
            return 0.0, near, sample.source or None
        logit = float(self.combiner.logits(features[None, :])[0])
        return float(_scaled(logit, self.similar_from)), near, sample.source or None


def unfitted_forbidden(
    forbidden: Sequence[Sample],
    look_alikes: Sequence[Sample],
    theirs: Sequence[Sample],
    attacks: Attacks,
    encoder: str,
) -> Forbidden:
    """The axis before any example was weighed.

    Args:
        look_alikes: shipped texts that must pass though they sound alarming; a few of them may be missed.
        theirs: the operator's must and may examples, of which next to none may be.
        encoder: the digest of what made the vectors.
    """
    centre, weights = zip(*(_RULE[name] for name in CONTRAST_FEATURES), strict=True)
    knows_vectors = attacks.detector is not None and attacks.detector.encoder == encoder
    return Forbidden(
        contrast=Contrast(forbidden, (*look_alikes, *theirs)),
        combiner=Combiner(np.array(weights), np.array(centre)),
        similar_from=_LEAST_CUT,
        attacks=attacks,
        has_own=any(sample.ours for sample in forbidden),
        knows_vectors=knows_vectors,
        leeway=leeway_to(theirs, knows_vectors=knows_vectors),
    )


def fit_forbidden(
    forbidden: Sequence[Sample],
    look_alikes: Sequence[Sample],
    theirs: Sequence[Sample],
    attacks: Attacks,
    encoder: str,
    parts: Parts = NO_PARTS,
) -> Forbidden:
    """Fit on left-out evidence; the arguments are those of the unfitted axis, and `parts` of their texts."""
    axis = unfitted_forbidden(forbidden, look_alikes, theirs, attacks, encoder)
    rows = [
        axis.contrast.left_out([sample for sample in group if sample.kind == "example"])
        for group in (forbidden, look_alikes, theirs)
    ]
    logits = _detected(axis, theirs, parts)
    axis = replace(axis, raised=_raised(logits), leeway=fit_leeway(axis.leeway, logits))
    truth = np.arange(sum(map(len, rows))) < len(rows[0])
    if not truth.any() or truth.all():
        return axis
    features, rule = np.concatenate(rows), axis.combiner
    held_out = expit(rule.cross_fitted(features, truth, stiffness=_STIFFNESS))
    end = len(rows[0]) + len(rows[1])
    cuts = (
        _highest(held_out[len(rows[0]) : end], _FALSE_ALARM_LOOK_ALIKES),
        _highest(held_out[end:], _FALSE_ALARM),
    )
    fitted = replace(
        axis,
        combiner=rule.fitted(features, truth, stiffness=_STIFFNESS),
        similar_from=float(np.clip(max(cuts), _LEAST_CUT, _GREATEST_CUT)),
    )
    return replace(fitted, suspicious_from=_suspicious_from(fitted, logits))


def _raised(logits: Floats) -> float:
    """By how much the detector must be held back for the operator's own examples to pass."""
    if not len(logits):
        return 0.0
    floor = conformal_floor(-logits, _FALSE_ALARM)
    return float(np.clip(logits.max() if floor is None else -floor, 0.0, _MOST_RAISED))


def _suspicious_from(axis: Forbidden, logits: Floats) -> float:
    """As low as all but a few of the operator's questions allow."""
    floor = conformal_floor(-logits, _SUSPECTED if len(logits) >= least_cases(_SUSPECTED) else _FALSE_ALARM)
    if floor is None:
        return _UNTESTED_SUSPICION[axis.knows_vectors]
    return float(np.clip(_scaled(-floor - axis.raised, 0.5), *_SUSPICION))


def _detected(axis: Forbidden, theirs: Sequence[Sample], parts: Parts) -> Floats:
    """What the detector says of the operator's own examples."""
    detector, examples = axis.attacks.detector, [sample for sample in theirs if sample.kind == "example"]
    if detector is None or not examples:
        return np.zeros(0)
    vectors = np.stack([sample.vector for sample in examples]) if axis.knows_vectors else None
    return detector.logits([normalise(sample.text) for sample in examples], vectors, parts)


def _scaled(logit: float, cut: float) -> float:
    """A probability on the common scale, on which `cut` becomes _CUT."""
    return float(expit(logit - _logit(cut) + _logit(_CUT)))


def _highest(scores: Floats, error: float) -> float:
    """The score that all but this share of harmless texts stay under."""
    floor = conformal_floor(-scores, error)
    return _UNTESTED_CUT if floor is None else -floor
