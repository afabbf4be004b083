"""What tells whose question it is, as numbers: one row of evidence, and the rule that weighs it at first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from classifiers.gate import Neighbour
from classifiers.gate.combiner import Combiner
from classifiers.gate.contrast import CONTRAST_FEATURES
from classifiers.gate.leaning import LEANING_FEATURES

__all__ = [
    "SCOPE_FEATURES",
    "Grounds",
    "covered_share",
    "near_rule",
    "scope_features",
    "scope_rule",
    "told_by_passages",
    "with_gaps",
    "without_document",
]

Floats = NDArray[np.float64]

# Of passages and entries: the best by words, by meaning and by both, and how far the last stands out.
_FOUND_FEATURES = tuple(
    f"{kind}_{statistic}"
    for kind in ("passage", "entry")
    for statistic in ("wording", "meaning", "both", "margin")
)
SCOPE_FEATURES = (*CONTRAST_FEATURES, *LEANING_FEATURES, *_FOUND_FEATURES)

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

_IMAGINED = 5  # must examples that found their passage: a few can't show that there are gaps
_NEARLY_ALL = 0.9  # of our questions; documents that speak of so many need no word about it


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


def scope_rule() -> Combiner:
    """The combiner before any example was seen."""
    return Combiner(_WEIGHTS, _NEUTRAL)


def near_rule() -> Combiner:
    """Where the fit of the near reading starts."""
    return Combiner(np.where(_TELLS_NEAR, _WEIGHTS, 0.0), _NEUTRAL)


def scope_features(
    contrasted: Floats, leaning: Floats, found: Sequence[Neighbour], grounds: Grounds
) -> Floats:
    """One row of evidence. Finding no passage tells something where there are passages to be found.

    A verified entry can only speak for a question: what nobody answered yet is not therefore foreign.
    """
    row = np.concatenate([contrasted, leaning, np.full(len(_FOUND_FEATURES), np.nan)])
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
    told = np.array([told_by_passages(scope_rule(), _passages_alone(near)[None, :])[0] for near in found])

    def unlikely(share: float) -> float:
        return float(-with_gaps(told, share).sum() - _IMAGINED * np.log(share))

    share = float(minimize_scalar(unlikely, bounds=(0.0, 1.0), method="bounded").x)
    return share if unlikely(share) < unlikely(1.0) else 1.0  # which the search comes near, but never to


def _passages_alone(found: Sequence[Neighbour]) -> Floats:
    nothing, no_leaning = np.full(len(CONTRAST_FEATURES), np.nan), np.full(len(LEANING_FEATURES), np.nan)
    return scope_features(nothing, no_leaning, found, Grounds(frozenset({"passage"})))


def told_by_passages(combiner: Combiner, features: Floats) -> Floats:
    """What passages say, a logit for each row."""
    return np.asarray(combiner.parts(features)[:, _OF_KIND["passage"]].sum(axis=1), dtype=np.float64)


def with_gaps(told: Floats, covered: float) -> Floats:
    """What passages say where they speak of this share of our questions only.

    It is a ratio of likelihoods: of questions that a passage answers, and of questions that are not ours.
    Of the rest of ours they say the same as of these, a ratio of one. So however silent the documents are,
    it costs a question no more than their gaps are rare.
    """
    return np.log(covered * np.exp(told) + 1.0 - covered)
