"""Whether a verified entry may answer a question. Pure functions; no store, no model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cache.entries import Entry
from cache.guards import Compared, Guard
from cache.matching.evidence import ENTRIES, Evidence, Weighing, agreement, covered
from cache.reading.asking import asked_only, guarded_readings
from cache.reading.spelling import spelt
from cache.reading.text import pieces
from cache.reading.wording import WORDED, agreements

__all__ = [
    "Candidate",
    "Hit",
    "Match",
    "Miss",
    "NearMiss",
    "Objection",
    "Similar",
    "Tier",
    "candidates",
    "decide",
    "objection",
]

Tier = Literal["exact", "vector"]

NEAR = 0.5  # from half the cut on, an entry is close enough to be shown to a person


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """The entry answers the question."""

    entry: Entry
    phrasing: str  # the stored phrasing that matched best
    tier: Tier
    score: float  # 1.0 for the exact tier, else the score that passed the cut
    reason: str


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a guard keeps an entry back; one that could not look does so, too."""

    guard: str  # its name
    seen: str
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.guard}: {self.seen}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """An entry is close, and something says that it asks something else."""

    entry: Entry
    phrasing: str
    score: float
    reason: str  # which guard or score kept it back, and what it saw
    objection: Objection | None = None  # None: the score is below the cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Nothing close. `lookup_failed` tells dead stores from empty ones."""

    reason: str
    lookup_failed: bool = False


Match = Hit | NearMiss | Miss


@dataclass(frozen=True, slots=True)
class Similar:
    """The phrasings nearest to a question, as the index gave them."""

    cosines: tuple[tuple[str, str, float], ...]  # entry id, phrasing, cosine; best first
    floor: float | None  # no other phrasing is nearer than this; None if there is no other
    spreads: Mapping[str, float] = field(default_factory=dict)  # of entries by id; 1 for a single phrasing


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entry that may answer, what speaks for it, and how probable that makes it."""

    entry: Entry
    phrasing: str  # the one nearest to the question
    evidence: Evidence
    score: float


def candidates(
    question: str, similar: Similar, entries: Sequence[Entry], weighing: Weighing
) -> tuple[Candidate, ...]:
    """The entries with their evidence, the most probable first."""
    nearest = tuple(dict.fromkeys(owner for owner, _, _ in similar.cosines))[:ENTRIES]
    nearness = [_nearness(question, entry, similar, in_full=entry.id in nearest) for entry in entries]
    scored = []
    for at, near in enumerate(nearness):
        others = nearness[:at] + nearness[at + 1 :]
        evidence = Evidence(
            best=near.best,
            margin=near.best - max((one.best for one in others), default=_rival(similar)),
            central=near.central,
            central_margin=_central_margin(near, others),
            characters=near.characters,
            characters_margin=near.characters - max((one.characters for one in others), default=-math.inf),
            aligned=near.aligned,
            covered=near.covered,
        )
        score = float(weighing.probability(evidence.as_array()))
        scored.append(Candidate(entry=near.entry, phrasing=near.phrasing, evidence=evidence, score=score))
    return tuple(sorted(scored, key=lambda one: (-one.score, one.entry.id)))


def decide(question: str, ranked: Sequence[Candidate], *, cut: float, guards: Sequence[Guard]) -> Match:
    """Serve the most probable candidate if it reaches the cut and no guard objects."""
    if not ranked:
        return Miss(reason="no entry is near")
    first = ranked[0]
    if first.score < cut * NEAR:
        return Miss(reason=_far(first, cut))
    if first.score < cut:
        return _held_back(first, f"score {first.score:.3f} is below the cut {cut:.3f}")
    seen = objection(question, first.phrasing, first.entry.phrasings, first.entry.language, guards)
    seen = seen or _without_lead_ins(question, first, guards)
    if seen is not None:
        return _held_back(first, str(seen), seen)
    return Hit(
        entry=first.entry,
        phrasing=first.phrasing,
        tier="vector",
        score=first.score,
        reason=f"score {first.score:.3f} reaches the cut {cut:.3f}",
    )


def _far(first: Candidate, cut: float) -> str:
    """Why the best candidate is not even near: what its score is made of."""
    seen = first.evidence
    ahead = "" if math.isinf(seen.margin) else f", {seen.margin:+.3f} to the next entry"
    return (
        f"no entry is near enough: the best scores {first.score:.3f}, the cut is {cut:.3f} "
        f"(meaning {seen.best:.3f}{ahead}; characters {seen.characters:.3f})"
    )


def _held_back(candidate: Candidate, reason: str, seen: Objection | None = None) -> NearMiss:
    return NearMiss(
        entry=candidate.entry,
        phrasing=candidate.phrasing,
        score=candidate.score,
        reason=reason,
        objection=seen,
    )


def objection(
    question: str, phrasing: str, phrasings: Sequence[str], language: str, guards: Sequence[Guard]
) -> Objection | None:
    """What the first objecting guard saw; a guard that could not look objects too.

    Both the whole question is looked at and what it asks.
    """
    for text in guarded_readings(question, language):
        compared = Compared(question=text, phrasing=phrasing, phrasings=tuple(phrasings), language=language)
        if (seen := _vetoed(compared, guards)) is not None:
            return seen
    return None


def _without_lead_ins(question: str, first: Candidate, guards: Sequence[Guard]) -> Objection | None:
    """What guards see where the phrasings have no lead-ins either: an accepted one may begin with “Hello”.

    Calibration does not look so closely: its probes are more alike than real questions, so the cut would
    sink by more than this keeps back (CLINC150: 1.2 % wrong for a stated 1 %).
    """
    language = first.entry.language
    phrasing = asked_only(first.phrasing, language)
    if phrasing == first.phrasing:
        return None
    phrasings = tuple(asked_only(text, language) for text in first.entry.phrasings)
    compared = Compared(asked_only(question, language), phrasing, phrasings, language)
    return _vetoed(compared, guards)


def _vetoed(compared: Compared, guards: Sequence[Guard]) -> Objection | None:
    for guard in guards:
        try:
            seen = guard.veto(compared)
        except Exception as failure:  # noqa: BLE001 - whatever broke, a check that did not run is no pass
            seen = f"could not be checked ({type(failure).__name__}: {failure})"
            return Objection(guard.name, seen, failed=True)
        if seen is not None:
            return Objection(guard.name, seen)
    return None


def _closest(question: str, phrasings: Sequence[str], language: str) -> tuple[float, str]:
    """The share of character n-grams that the closest phrasing has in common, and the phrasing."""
    grams = pieces(spelt(question, language)).grams
    shares = [agreement(grams, pieces(spelt(text, language)).grams) for text in phrasings]
    best = max(shares)
    return best, phrasings[shares.index(best)]


@dataclass(frozen=True, slots=True)
class _Nearness:
    entry: Entry
    phrasing: str
    best: float
    central: float
    characters: float
    aligned: float
    covered: float


def _nearness(question: str, entry: Entry, similar: Similar, *, in_full: bool) -> _Nearness:
    """How near an entry is by itself; what the index did not return is at most at its floor.

    Only of the nearest entries, looked at in full, has the index told enough to know their mean.
    """
    wording = frozenset(entry.phrasings)  # a phrasing that was edited away may still be in the index
    found = [
        (text, cosine) for owner, text, cosine in similar.cosines if owner == entry.id and text in wording
    ]
    floor = similar.floor if similar.floor is not None else 0.0
    cosines = [cosine for _, cosine in found] or [floor]
    mean = (sum(cosines) + floor * (len(wording) - len(cosines))) / len(wording)
    characters, worded = _closest(question, entry.phrasings, entry.language)
    aligned, unaligned = _worded(question, entry)
    return _Nearness(
        entry,
        found[0][0] if found else worded,
        cosines[0],
        mean / similar.spreads.get(entry.id, 1.0) if in_full else -math.inf,
        characters,
        aligned,
        covered(characters, unaligned),
    )


def _central_margin(near: _Nearness, others: Sequence[_Nearness]) -> float:
    if math.isinf(near.central):
        return -math.inf
    return near.central - max((one.central for one in others), default=-math.inf)


def _worded(question: str, entry: Entry) -> tuple[float, float]:
    """How the words agree with the phrasings: the best of both measures; nothing where no words are known."""
    if entry.language not in WORDED:
        return 0.0, 1.0
    aligned, unaligned = agreements((question,), entry.phrasings, entry.language)
    return float(aligned.max()), float(unaligned.min())


def _rival(similar: Similar) -> float:
    """What an only candidate is compared with: the best that the index may have kept to itself."""
    return similar.floor if similar.floor is not None else -math.inf
