"""The first axis: is the question ours? Examples, descriptions, entries and passages, weighed together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, stdtrit

from classifiers.gate import Neighbour
from classifiers.gate.combiner import Combiner, enough_for, tail_floor
from classifiers.gate.contrast import CONTRAST_FEATURES, Contrast, Nearest
from classifiers.gate.leaning import LEANING_FEATURES, Leaning
from classifiers.gate.lexical import lexical_share
from encoders import Encoded

__all__ = [
    "FEW",
    "LEAST_OURS",
    "SCOPE_FEATURES",
    "UNSURE",
    "Grounds",
    "Reading",
    "Scope",
    "ScopeReading",
    "Training",
    "covered_share",
    "fit_scope",
    "scope_features",
    "scope_rule",
    "without_document",
]

Floats = NDArray[np.float64]

# Of passages and entries: the best by words, by meaning and by both, and how far the last stands out.
FOUND_FEATURES = tuple(
    f"{kind}_{statistic}"
    for kind in ("passage", "entry")
    for statistic in ("wording", "meaning", "both", "margin")
)
SCOPE_FEATURES = (*CONTRAST_FEATURES, *LEANING_FEATURES, *FOUND_FEATURES)

# The rule that stands until examples say otherwise. For each piece of evidence: where it says nothing, and
# how much a step of 1 from there counts. Set by hand between the quantiles of in-scope and out-of-scope
# questions of a bank (English) and of encyclopaedias (Japanese, Chinese, English), for the shipped encoders.
_RULE: dict[str, tuple[float, float]] = {
    "meaning_for_nearest": (0.45, 5.0),
    "meaning_for_nearest_three": (0.40, 3.0),
    "meaning_for_density": (0.20, 2.0),
    "meaning_against_nearest": (0.40, -3.0),
    "meaning_against_nearest_three": (0.35, -2.0),
    "meaning_against_density": (0.15, -1.0),
    "wording_for_nearest": (0.15, 2.0),
    "wording_for_nearest_three": (0.12, 1.0),
    "wording_for_density": (0.05, 0.5),
    "wording_against_nearest": (0.20, -2.0),
    "wording_against_nearest_three": (0.15, -1.0),
    "wording_against_density": (0.05, -0.5),
    "meaning_leaning": (0.0, 1.0),
    "wording_leaning": (0.0, 1.0),
    "passage_wording": (0.40, 2.0),
    "passage_meaning": (0.40, 2.0),
    "passage_both": (0.80, 10.0),
    "passage_margin": (0.30, 1.0),
    "entry_wording": (0.45, 4.0),
    "entry_meaning": (0.55, 5.0),
    "entry_both": (1.00, 1.0),
    "entry_margin": (0.30, 0.5),
}
_NEUTRAL = np.array([_RULE[name][0] for name in SCOPE_FEATURES])
_WEIGHTS = np.array([_RULE[name][1] for name in SCOPE_FEATURES])
_OF_KIND = {
    kind: np.array([name.startswith(kind) for name in SCOPE_FEATURES]) for kind in ("passage", "entry")
}
_FOR = np.array(["_for_" in name for name in SCOPE_FEATURES])
# What looks like ours and is not shares its words with ours: wording and density only blur that border.
_TELLS_NEAR = np.array(
    [
        name.startswith(("passage", "entry")) or (name.startswith("meaning") and not name.endswith("density"))
        for name in SCOPE_FEATURES
    ]
)

RULE_CUT = 0.5  # without enough must examples for a promise
LEAST_CUT = 0.3  # below lies what two or more everyday questions in ten reach
LEAST_OURS = 5  # must examples; below, the rule alone decides
FEW = 50  # must examples; fewer cannot show all of what is ours
LEAST_NEAR = 30  # of them, to learn what tells them from what looks like them
LEAST_OTHERS = 20  # counter-examples of a sort
_STIFFNESS = 0.1  # how many examples a unit of the rule's weights is worth
_IMAGINED = 5  # must examples that found their passage: a few can't show that there are gaps
_NEARLY_ALL = 0.9  # of our questions; documents that speak of so many need no word about it
_LOW = 0.02
_LOWEST_FAR = -1.5  # logit; a few strange examples must not open the gate to everyday questions
UNSURE = 0.6  # times the cut: what lies below is called "may" outright


@dataclass(frozen=True, slots=True)
class Training:
    """Evidence to fit on, one row per text, none compared with itself."""

    ours: Floats
    near: Floats  # the operator's may examples
    unsupported: Floats  # must examples whose document was taken away
    far: Floats  # everyday questions and attacks


@dataclass(frozen=True, slots=True)
class Grounds:
    """What there was to be found when the axis was fitted."""

    kinds: frozenset[str] = frozenset()  # that the sources gave: from then on their silence tells something
    few: bool = False  # examples, where documents speak too: resembling none of them says nothing
    covered: float = 1.0  # share of our questions that documents speak of, where there are any

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the operator should know of his documents."""
        if self.covered >= _NEARLY_ALL:
            return ()
        return (
            f"the documents speak of about {self.covered:.0%} of what the must examples ask; questions like "
            "the rest go to a person: add documents that answer them",
        )


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
        told = _told(self.combiner, features)
        return self.of(self.combiner.logits(features) - told + _mixed(told, covered))

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
            despite_silence=max(score, self._despite_silence(contrasted, leaning, found)),
            nearest=max((*found, *samples), key=lambda n: n.similarity + n.lexical, default=None),
            against=_as_neighbour(question, against) if against else None,
        )

    def _despite_silence(self, contrasted: Floats, leaning: Floats, found: Sequence[Neighbour]) -> float:
        """Where documents are silent the examples have to speak, however few they are."""
        row = scope_features(contrasted, leaning, found, replace(self.grounds, few=False))[None, :]
        return float(min(each.despite_silence(row, self.grounds.covered)[0] for each in self.readings))


def scope_rule() -> Combiner:
    """The combiner before any example was seen."""
    return Combiner(_WEIGHTS, _NEUTRAL)


def _near_rule() -> Combiner:
    """Where the fit of the near reading starts."""
    return Combiner(np.where(_TELLS_NEAR, _WEIGHTS, 0.0), _NEUTRAL)


def scope_features(
    contrasted: Floats, leaning: Floats, found: Sequence[Neighbour], grounds: Grounds
) -> Floats:
    """One row of evidence. Finding no passage tells something where there are passages to be found.

    A verified entry can only speak for a question: what nobody answered yet is not therefore foreign.
    """
    row = np.concatenate([contrasted, leaning, np.full(len(FOUND_FEATURES), np.nan)])
    if grounds.few:
        row[_FOR] = np.fmax(row[_FOR], _NEUTRAL[_FOR])
    for kind, columns in _OF_KIND.items():
        near = [neighbour for neighbour in found if neighbour.kind == kind]
        if near:
            row[columns] = _of_found(near)
        elif kind in grounds.kinds:
            row[columns] = 0.0
    row[_OF_KIND["entry"]] = np.fmax(row[_OF_KIND["entry"]], _NEUTRAL[_OF_KIND["entry"]])
    return row


def _of_found(near: Sequence[Neighbour]) -> Floats:
    wording = np.array([neighbour.lexical for neighbour in near])
    meaning = np.array([neighbour.similarity for neighbour in near])
    both = wording + meaning  # of one passage: words here and meaning there are two halves of no answer
    return np.array([wording.max(), meaning.max(), both.max(), both.max() - np.median(both)])


def without_document(found: Sequence[Neighbour]) -> list[Neighbour]:
    """The weaker half of what other documents say: what a question finds whose document we do not hold.

    Half, since the parts of one work may be held as documents of their own.
    """
    best = max(
        (n for n in found if n.kind == "passage"), key=lambda n: n.lexical + n.similarity, default=None
    )
    rest = [n for n in found if n.kind == "passage" and best is not None and n.source != best.source]
    rest.sort(key=lambda n: n.lexical + n.similarity)
    return [*rest[: (len(rest) + 1) // 2], *(n for n in found if n.kind != "passage")]


def covered_share(found: Iterable[Sequence[Neighbour]]) -> float:
    """The share of our questions that documents speak of: the likeliest, by what each must example found.

    By the rule's weights, which learnt from none of them, and as if a few more had found their passage.
    """
    told = np.array([_told(scope_rule(), _passages_alone(near)[None, :])[0] for near in found])

    def unlikely(share: float) -> float:
        return float(-_mixed(told, share).sum() - _IMAGINED * np.log(share))

    return float(minimize_scalar(unlikely, bounds=(0.0, 1.0), method="bounded").x)


def _passages_alone(found: Sequence[Neighbour]) -> Floats:
    nothing, no_leaning = np.full(len(CONTRAST_FEATURES), np.nan), np.full(len(LEANING_FEATURES), np.nan)
    return scope_features(nothing, no_leaning, found, Grounds(frozenset({"passage"})))


def _told(combiner: Combiner, features: Floats) -> Floats:
    """What passages say, a logit for each row."""
    return np.asarray(combiner.parts(features)[:, _OF_KIND["passage"]].sum(axis=1), dtype=np.float64)


def _mixed(told: Floats, covered: float) -> Floats:
    """What passages say where they speak of this share of our questions only.

    It is a ratio of likelihoods: of questions that a passage answers, and of questions that are not ours.
    Of the rest of ours they say the same as of these, a ratio of one. So however silent the documents are,
    it costs a question no more than their gaps are rare.
    """
    return np.log(covered * np.exp(told) + 1.0 - covered)


def fit_scope(
    contrast: Contrast,
    leaning: Leaning | None,
    training: Training,
    grounds: Grounds,
    *,
    max_false_refusal: float,
) -> Scope:
    """Fit the weights if the examples allow, and cut where the promise of false refusals is kept."""
    ours = training.ours
    near = _fitted(ours, training.near, least=LEAST_NEAR, start=_near_rule())
    far = _fitted(ours, training.far, least=LEAST_OURS, lowest=_LOWEST_FAR, by_spread=grounds.few)
    enough = len(ours) >= LEAST_NEAR and len(training.unsupported) >= LEAST_OTHERS
    supported = _fitted(ours, training.unsupported, least=LEAST_NEAR) if enough else None
    held_out = np.min([fitted[1] for fitted in (near, far, supported) if fitted], axis=0)
    cut = tail_floor(held_out, max_false_refusal)
    if cut is None:  # no promise can be made: what lies with the least of our own examples may pass
        cut = min(held_out.min(initial=RULE_CUT), RULE_CUT)
    strangers = int((held_out < LEAST_CUT).sum()) if cut < LEAST_CUT else 0
    return Scope(
        contrast=contrast,
        leaning=leaning,
        near=near[0],
        far=far[0],
        supported=supported[0] if supported else None,
        cut=max(float(cut), LEAST_CUT),
        grounds=grounds,
        notes=_strange(strangers),
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
    if not by_spread or count >= enough_for(_LOW):
        return float(np.quantile(logits, _LOW))
    spread = float(np.std(logits, ddof=1)) * math.sqrt(1 + 1 / count)
    return float(logits.mean() + stdtrit(count - 1, _LOW) * spread)


def _strange(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (
        f"{count} of the must examples look like nothing else in the policy or the documents; questions like "
        "them are refused, since the cut that lets them pass lets everything pass: add more of their kind",
    )


def _as_neighbour(question: Encoded, near: Nearest) -> Neighbour:
    return near.sample.neighbour(near.similarity, lexical_share(question.text, near.sample.text))
