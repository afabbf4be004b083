"""The cut for a stated error, from the entries alone: a fresh FAQ has one before its first visitor.

Every phrasing is a probe twice. Held out by itself, it should find its own entry; with
its whole entry held out, nothing may answer it, and its neighbours are near misses by
construction. The cut is the smallest at which the one-sided upper bound (Clopper-Pearson)
of wrong answers per probe stays within the target. Half of the probes are unanswerable,
so the bound assumes traffic that is no worse than that; docs/statistics.md says the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray
from scipy.special import betaincinv

from cache.entries import Entry
from cache.guards import Guard
from cache.matching import objection
from cache.matching.arrays import Owners, ShelfArrays, without_entries
from cache.matching.evidence import Numbers, Weighing
from cache.matching.scoring import Paired, Scorer
from cache.reading.asking import readings, says_all
from cache.reading.spelling import encode_spelt, spelt
from encoders import Encoder, Vector

__all__ = [
    "CONFIDENCE",
    "Asked",
    "Cut",
    "Labelled",
    "Probes",
    "ask",
    "cut_for",
    "guarded",
    "probe",
    "shelf_cut",
    "upper_bound",
]

CONFIDENCE = 0.95
# Of the cut: half of the probes have no answer, which most traffic beats. For a stated 1 % BANKING77 is
# served 29 % right and .2 % wrong at .95, 39 % and .3 % at .8, CLINC150 65 % and .7 %.
CUT_CONFIDENCE = 0.8
# Wrong probes: a cut that hangs on fewer sinks no lower than the default. Of 152 small shelves whose traffic
# is like their probes the target was kept on 70 % without this, on 89 % with it; docs/statistics.md.
_FEW = 5
_WORTH_GUARDING = 0.3  # far below any cut that is found, a veto changes nothing
_ARRAYS = ("scores", "right", "answerable", "questions", "entries")
_CHUNK = 256  # probes at a time: 10,000 phrasings stay below 200 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """From which score an entry is served, and why."""

    score: float
    target_error: float  # wrong answers per request
    bound: float | None  # upper bound of the error at this cut; None if it could not be shown
    probes: int
    served: float  # share of the answerable probes that this cut serves right
    why: str
    since: str = ""  # from when this score serves, ISO 8601; empty for the default
    tightened_from: float | None = None  # the score before an audit raised it, until the next calibration


@dataclass(frozen=True, slots=True)
class Probes:
    """What each probe would have got: the best score, and whether it was its own entry's."""

    scores: Numbers
    right: NDArray[np.bool_]
    answerable: NDArray[np.bool_]
    questions: Owners  # which text was asked
    entries: Owners  # which entry scored best
    nearest: tuple[str, ...]  # its phrasing nearest to the question
    read: tuple[str, ...]  # the reading of the question that it was found by


_NO_PROBES = Probes(
    np.empty(0), np.empty(0, bool), np.empty(0, bool), np.empty(0, np.intp), np.empty(0, np.intp), (), ()
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions as one of their readings has them."""

    texts: tuple[str, ...]
    vectors: Vector

    @classmethod
    async def by_readings(
        cls, texts: Sequence[str], vectors: Vector, language: str, encoder: Encoder
    ) -> tuple[Self, ...]:
        """What they only ask, and all but their courtesies (`reading.asking`); one if both are the same."""
        found = []
        for which in (0, -1):
            read = tuple(readings(text, language)[which] for text in texts)
            other = [row for row, text in enumerate(texts) if read[row] not in (text, spelt(text, language))]
            changed = vectors.copy()
            if other:
                changed[other] = await encoder.encode([read[row] for row in other])
            found.append(cls(read, changed))
        first, last = found
        return (first,) if first.texts == last.texts else (first, last)


def upper_bound(wrong: int, n: int, *, confidence: float = CONFIDENCE) -> float:
    """The largest error rate that still is plausible after `wrong` of `n` (Clopper-Pearson, one-sided)."""
    return 1.0 if wrong >= n else float(betaincinv(wrong + 1, n - wrong, confidence))


def cut_for(probes: Probes, *, target_error: float, default: float) -> Cut:
    """The smallest cut whose bound keeps the target; the default where the probes are too few.

    Where fewer than `_FEW` probes may be wrong, the cut is no lower than the default: with so few, a single
    probe that a guard comes to hold back would move it far.
    """
    n = len(probes.scores)
    allowed = _wrong_allowed(n, target_error)
    if allowed < 0:
        needed = int(np.ceil(np.log(1 - CUT_CONFIDENCE) / np.log1p(-target_error)))
        why = f"{n} probes can't show {target_error:g} wrong answers per request, {needed} are needed"
        return _cut(probes, default, target_error, bound=None, why=f"default cut: {why}")
    wrong = np.sort(probes.scores[~probes.right])[::-1]
    smallest = float(np.nextafter(wrong[allowed], np.inf)) if len(wrong) > allowed else 0.0
    score = smallest if allowed >= _FEW else max(smallest, default)
    made = int((wrong >= score).sum())
    bound = upper_bound(made, n, confidence=CUT_CONFIDENCE)
    why = f"{made} of {n} probes wrong, at most {bound:.4f} with {CUT_CONFIDENCE:.0%} confidence"
    if score > smallest:
        why += "; the default cut, since so few probes say little of a lower one"
    return _cut(probes, score, target_error, bound=bound, why=why)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question that somebody asked, and the entry that answers it; None if none does."""

    text: str
    entry: str | None


_Judge = Callable[[Asked, Owners], Probes]


async def shelf_cut(
    entries: Sequence[Entry],
    encoder: Encoder,
    *,
    scorer: Scorer,
    target_error: float,
    guards: Sequence[Guard] = (),
    labelled: Sequence[Labelled] = (),
) -> Cut:
    """The cut for the active entries of one shelf, behind the guards that serve with it.

    Labelled questions are the traffic itself and stand in the place of the probes, as soon as
    there are enough of them to show the target.
    """
    texts = [text for entry in entries for text in entry.phrasings]
    owners = np.repeat(np.arange(len(entries)), [len(entry.phrasings) for entry in entries])
    if not texts:
        return cut_for(_NO_PROBES, target_error=target_error, default=scorer.default_cut)
    language = entries[0].language
    vectors = await encode_spelt(encoder, texts, language)
    shelf = await to_thread.run_sync(lambda: ShelfArrays.of(vectors, texts, owners, language))
    if _wrong_allowed(len(labelled), target_error) < 0:
        asked, origin, judge = texts, "", partial(probe, shelf, scorer.weighing)
    else:
        asked, origin = [one.text for one in labelled], "labelled questions: "
        vectors = await encode_spelt(encoder, asked, language)
        judge = partial(ask, shelf, scorer.weighing, _gold(entries, labelled))
    by_readings = await Asked.by_readings(asked, vectors, language, encoder)
    probes = await to_thread.run_sync(lambda: _by_the_first_that_says_all(judge, by_readings, language))
    found = zip(probes.read, probes.nearest, probes.entries, strict=True)
    paired = [Paired(read, nearest, entries[entry].answer) for read, nearest, entry in found]
    scores = await scorer.reread(probes.scores, paired)
    read = replace(probes, scores=scores)
    behind = await to_thread.run_sync(lambda: guarded(read, asked, entries, guards))
    cut = cut_for(behind, target_error=target_error, default=scorer.default_cut)
    return replace(cut, why=origin + cut.why)


def _by_the_first_that_says_all(judge: _Judge, by_readings: Sequence[Asked], language: str) -> Probes:
    """The probes by the reading that each question is served by; see `Shelf`."""
    first, *rest = by_readings
    probes = judge(first, np.arange(len(first.texts)))
    for asked in rest:
        again = [
            at
            for at, row in enumerate(probes.questions)
            if asked.texts[row] != first.texts[row]
            and not says_all(first.texts[row], probes.nearest[at], language)
        ]
        probes = _replaced(probes, again, judge(asked, np.unique(probes.questions[again])))
    return probes


def _replaced(probes: Probes, places: Sequence[int], others: Probes) -> Probes:
    """Probes with those of the same question and kind in their places."""
    kinds = enumerate(zip(others.questions, others.answerable, strict=True))
    found = {kind: len(probes.scores) + at for at, kind in kinds}
    order = np.arange(len(probes.scores))
    order[places] = [found[probes.questions[at], probes.answerable[at]] for at in places]
    return _at(_joined([probes, others]), order)


def probe(shelf: ShelfArrays, weighing: Weighing, asked: Asked, asking: Owners) -> Probes:
    """Hold out each phrasing that asks, then its whole entry, and see what would have been served."""
    sizes = shelf.entry_sizes
    owners = np.repeat(np.arange(len(sizes)), sizes)
    parts: list[Probes] = [_NO_PROBES]
    for rows in _chunks(asking):
        own = owners[rows]
        evidence = shelf.evidence(asked.vectors[rows], [asked.texts[row] for row in rows], itself=rows)
        findable = sizes[own] > 1  # a single phrasing leaves nothing to be found by
        found = weighing.probability(evidence)
        gone = weighing.probability(without_entries(evidence, own))
        gone[np.arange(len(rows)), own] = 0.0
        parts += [
            _best(shelf, asked, found[findable], rows[findable], own[findable], held_out=True),
            _best(shelf, asked, gone, rows, np.full(len(rows), -1), held_out=True),
        ]
    return _joined(parts)


def ask(shelf: ShelfArrays, weighing: Weighing, gold: Owners, asked: Asked, asking: Owners) -> Probes:
    """What the shelf would have served for questions whose entry is known (-1: none)."""
    parts: list[Probes] = [_NO_PROBES]
    for rows in _chunks(asking):
        evidence = shelf.evidence(asked.vectors[rows], [asked.texts[row] for row in rows])
        parts.append(_best(shelf, asked, weighing.probability(evidence), rows, gold[rows], held_out=False))
    return _joined(parts)


def guarded(
    probes: Probes, texts: Sequence[str], entries: Sequence[Entry], guards: Sequence[Guard]
) -> Probes:
    """The probes as the guards leave them: what one of them holds back is not served, right or wrong."""
    scores = probes.scores.copy()
    for at in np.flatnonzero(scores >= _WORTH_GUARDING):
        entry, text = entries[probes.entries[at]], texts[probes.questions[at]]
        others = tuple(phrasing for phrasing in entry.phrasings if phrasing != text)  # itself, held out
        if objection(text, probes.nearest[at], others, entry.language, guards) is not None:
            scores[at] = 0.0
    return replace(probes, scores=scores)


def _best(
    shelf: ShelfArrays, asked: Asked, found: Numbers, questions: Owners, gold: Owners, *, held_out: bool
) -> Probes:
    entries = found.argmax(axis=1)
    itself = questions if held_out else None
    nearest = tuple(shelf.nearest_phrasings(asked.vectors[questions], entries, itself))
    read = tuple(asked.texts[row] for row in questions)
    return Probes(found.max(axis=1), entries == gold, gold >= 0, questions, entries, nearest, read)


def _joined(parts: Sequence[Probes]) -> Probes:
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS
    }
    return Probes(
        **arrays,
        nearest=tuple(text for part in parts for text in part.nearest),
        read=tuple(text for part in parts for text in part.read),
    )


def _at(probes: Probes, order: Owners) -> Probes:
    arrays: dict[str, Any] = {name: getattr(probes, name)[order] for name in _ARRAYS}
    nearest = tuple(probes.nearest[at] for at in order)
    return Probes(**arrays, nearest=nearest, read=tuple(probes.read[at] for at in order))


def _gold(entries: Sequence[Entry], labelled: Sequence[Labelled]) -> Owners:
    number = {entry.id: at for at, entry in enumerate(entries)}
    return np.array([number.get(one.entry or "", -1) for one in labelled], np.intp)


def _wrong_allowed(n: int, target_error: float) -> int:
    """How many of n probes may be wrong within the target; -1 if not even none shows it."""
    wrong = -1
    while wrong + 1 < n and upper_bound(wrong + 1, n, confidence=CUT_CONFIDENCE) <= target_error:
        wrong += 1
    return wrong


def _cut(probes: Probes, score: float, target_error: float, *, bound: float | None, why: str) -> Cut:
    served = (probes.right & (probes.scores >= score)).sum() / max(1, int(probes.answerable.sum()))
    return Cut(
        score=score,
        target_error=target_error,
        bound=bound,
        probes=len(probes.scores),
        served=float(served),
        why=why,
    )


def _chunks(rows: Owners) -> Iterator[Owners]:
    for start in range(0, len(rows), _CHUNK):
        yield rows[start : start + _CHUNK]
