"""Which entries compete: both would answer a question in the same words, and only one of them is right.

An entry is asked in the words of another as if that other were not there. What it answers all
the same, it may take from it: such questions are the wrong answers that `calibrate` raises the cut
for, so every pair that is told apart makes the cut lower and the hits more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, assert_never

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from cache.calibration import Cut
from cache.entries import Entry
from cache.guards import Guard
from cache.matching import NEAR, Candidate, Hit, Miss, NearMiss, Objection, decide
from cache.matching.arrays import Owners, ShelfArrays, without_entries
from cache.matching.evidence import EVIDENCE, Evidence, Weighing
from cache.matching.scoring import Paired, Scorer
from cache.reading.spelling import encode_spelt
from cache.shelf import Shelf
from cache.trial import Trial
from encoders import Encoded, Encoder

__all__ = [
    "Collision",
    "Findable",
    "Would",
    "collisions",
    "competing",
    "findable",
    "shelf_collisions",
    "worst_first",
]

Would = Literal["answer", "be_held_back", "be_near"]
Strings = NDArray[np.str_]
_WORST_FIRST: dict[Would, int] = {"answer": 0, "be_held_back": 1, "be_near": 2}
_COSINES_AT_ONCE = 2_000_000  # a few arrays of them at a time: 100 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """What another entry would do with a question in the words of an entry."""

    entry: Entry
    phrasing: str  # the words
    other: Entry
    other_phrasing: str  # the nearest of the other's
    score: float  # how probable it is, in these words, that the other answers
    would: Would
    says: str  # the guard's objection, or how the score stands to the cut
    objection: Objection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable:
    """Whether an entry's other phrasings would find it, were it asked in the words of this one."""

    phrasing: str
    found: bool
    says: str


async def collisions(trial: Trial) -> tuple[Collision, ...]:
    """The entries that would compete with the one on trial, the worst first, each in its worst words.

    Raises:
        IndexUnavailable, EncoderError, DatabaseUnavailable.
    """
    shelf = trial.gone()
    found: list[Collision] = []
    for phrasing, vector in zip(trial.entry.phrasings, trial.vectors, strict=True):
        for group in trial.groups:
            found += await _in_words(trial.entry, Encoded(phrasing, vector), shelf, group)
    return _each_once(found)


async def findable(trial: Trial) -> tuple[Findable, ...]:
    """For each phrasing of the entry on trial: would the others find the entry?

    Raises:
        IndexUnavailable, EncoderError, DatabaseUnavailable.
    """
    where = {"tenant": trial.entry.tenant, "language": trial.entry.language, "group": trial.entry.group}
    judged = []
    for phrasing, vector in zip(trial.entry.phrasings, trial.vectors, strict=True):
        shelf = trial.there(without=phrasing)
        match await shelf.find(Encoded(phrasing, vector), **where):
            case Hit(entry=entry) | NearMiss(entry=entry) if entry.id != trial.entry.id:
                judged.append(_not_found(phrasing, f"“{entry.question}” is nearer"))
            case Hit(reason=reason):
                judged.append(Findable(phrasing=phrasing, found=True, says=reason))
            case NearMiss(reason=reason) | Miss(reason=reason):
                judged.append(_not_found(phrasing, reason))
            case never:
                assert_never(never)
    return tuple(judged)


async def shelf_collisions(shelf: Shelf, entries: Sequence[Entry], encoder: Encoder) -> tuple[Collision, ...]:
    """The pairs of these entries, one shelf's, that compete; the worst first."""
    if not entries:
        return ()
    cut = await _cut(shelf, entries[0])
    scorer = shelf.scorer(entries[0].language)
    return await competing(entries, encoder, scorer=scorer, cut=cut.score, guards=shelf.guards)


async def competing(
    entries: Sequence[Entry], encoder: Encoder, *, scorer: Scorer, cut: float, guards: Sequence[Guard]
) -> tuple[Collision, ...]:
    """The pairs that compete, in one pass over all phrasings of a shelf."""
    texts = [text for entry in entries for text in entry.phrasings]
    if not texts:
        return ()
    vectors = await encode_spelt(encoder, texts, entries[0].language)
    owners = np.repeat(np.arange(len(entries)), [len(entry.phrasings) for entry in entries])

    def nearest() -> list[tuple[int, Candidate]]:
        shelf = ShelfArrays.of(vectors, texts, owners, entries[0].language)
        return list(_near(shelf, owners, entries, texts, weighing=scorer.weighing, cut=cut))

    near = await to_thread.run_sync(nearest)
    asked = [Paired(texts[row], one.phrasing, one.entry.answer) for row, one in near]
    scores = await scorer.reread(np.array([one.score for _, one in near]), asked)

    def judged() -> tuple[Collision, ...]:
        read = (
            (row, replace(one, score=float(score))) for (row, one), score in zip(near, scores, strict=True)
        )
        found = (_collision(entries[owners[row]], texts[row], one, cut, guards) for row, one in read)
        return _each_once(one for one in found if one is not None)

    return await to_thread.run_sync(judged)


async def _in_words(entry: Entry, question: Encoded, shelf: Shelf, group: str) -> list[Collision]:
    """What the entries of a shelf would do with a question of somebody in a group."""
    tenant, language = entry.tenant, entry.language
    same = await shelf.exact(question, tenant=tenant, language=language, group=group)
    if same is not None:
        return [
            Collision(
                entry=entry, phrasing=question.text, other=same.entry, other_phrasing=same.phrasing,
                score=1.0, would="answer", says="the same words",
            )
        ]  # fmt: skip
    cut = await _cut(shelf, entry)
    near = await shelf.neighbours(question, tenant=tenant, language=language, group=group)
    found = (_collision(entry, question.text, one, cut.score, shelf.guards) for one in near)
    return [one for one in found if one is not None]


async def _cut(shelf: Shelf, entry: Entry) -> Cut:
    """The cut as calibrated: an audit that tightens or pauses a shelf separates no entries."""
    cut = await shelf.cut(entry.tenant, entry.language)
    return cut if cut.tightened_from is None else replace(cut, score=cut.tightened_from)


def _collision(
    entry: Entry, phrasing: str, rival: Candidate, cut: float, guards: Sequence[Guard]
) -> Collision | None:
    """What a rival would do with these words; None if it would not even come near."""
    objection: Objection | None = None
    match decide(phrasing, (rival,), cut=cut, guards=guards):
        case Miss():
            return None
        case Hit(reason=says):
            would: Would = "answer"
        case NearMiss(reason=says, objection=objection):
            would = "be_near" if rival.score < cut else "be_held_back"
        case never:
            assert_never(never)
    return Collision(
        entry=entry,
        phrasing=phrasing,
        other=rival.entry,
        other_phrasing=rival.phrasing,
        score=rival.score,
        would=would,
        says=says,
        objection=objection,
    )


def _near(
    shelf: ShelfArrays,
    owners: Owners,
    entries: Sequence[Entry],
    texts: Sequence[str],
    *,
    weighing: Weighing,
    cut: float,
) -> Iterator[tuple[int, Candidate]]:
    """Each phrasing with the entries that come near it, were its own not there."""
    at_once = max(1, _COSINES_AT_ONCE // len(texts))
    groups = np.array([entry.group for entry in entries])
    for start in range(0, len(texts), at_once):
        rows = np.arange(start, min(len(texts), start + at_once))
        own = owners[rows]
        evidence = without_entries(shelf.held_out(rows), own)
        scores = weighing.probability(evidence)
        scores[~_seen_together(groups[own], groups)] = 0.0
        scores[np.arange(len(rows)), own] = 0.0
        for at, other in np.argwhere(scores >= max(cut * NEAR, np.finfo(float).tiny)):
            yield (
                int(rows[at]),
                Candidate(
                    entry=entries[other],
                    phrasing=shelf.nearest_phrasings(shelf.vectors[rows[at]][None], np.array([other]))[0],
                    evidence=Evidence(**dict(zip(EVIDENCE, map(float, evidence[at, other]), strict=True))),
                    score=float(scores[at, other]),
                ),
            )


def _seen_together(some: Strings, others: Strings) -> NDArray[np.bool_]:
    """Whether there are askers who see both, by the groups of entries."""
    same = some[:, None] == others[None, :]
    return np.asarray(same | (some == "")[:, None] | (others == "")[None, :])


def _each_once(found: Iterable[Collision]) -> tuple[Collision, ...]:
    """The worst of each two entries, the worst first."""
    worst: dict[frozenset[str], Collision] = {}
    for one in sorted(found, key=worst_first):
        worst.setdefault(frozenset((one.entry.id, one.other.id)), one)
    return tuple(worst.values())


def worst_first(one: Collision) -> tuple[int, float, str, str]:
    """What to sort by: what would answer wrongly, then what a guard holds back, then what is near."""
    return _WORST_FIRST[one.would], -one.score, one.entry.id, one.other.id


def _not_found(phrasing: str, says: str) -> Findable:
    return Findable(phrasing=phrasing, found=False, says=says)
