"""The cut for a stated error, from the entries alone: a fresh FAQ has one before its first visitor.

Every phrasing is a probe twice. Held out by itself, it should find its own entry; with
its whole entry held out, nothing may answer it, and its neighbours are near misses by
construction. The cut is the smallest at which the one-sided upper bound (Clopper-Pearson)
of wrong answers per probe stays within the target. Half of the probes are unanswerable,
so the bound assumes traffic that is no worse than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray
from scipy.stats import beta

from cache.arrays import Owners, ShelfArrays, without_entries
from cache.entries import Entry
from cache.evidence import Numbers, Weighing
from encoders import Encoder, Vector

__all__ = ["CONFIDENCE", "Cut", "Labelled", "Probes", "ask", "cut_for", "probe", "shelf_cut", "upper_bound"]

CONFIDENCE = 0.95
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


@dataclass(frozen=True, slots=True)
class Probes:
    """What each probe would have got: the best score, and whether it was its own entry's."""

    scores: Numbers
    right: NDArray[np.bool_]
    answerable: NDArray[np.bool_]


def upper_bound(wrong: int, n: int, *, confidence: float = CONFIDENCE) -> float:
    """The largest error rate that still is plausible after `wrong` of `n` (Clopper-Pearson, one-sided)."""
    return 1.0 if wrong >= n else float(beta.ppf(confidence, wrong + 1, n - wrong))


def cut_for(probes: Probes, *, target_error: float, default: float) -> Cut:
    """The smallest cut whose bound keeps the target; the default where the probes are too few."""
    n = len(probes.scores)
    allowed = _wrong_allowed(n, target_error)
    if allowed < 0:
        needed = int(np.ceil(np.log(1 - CONFIDENCE) / np.log1p(-target_error)))
        why = f"{n} probes can't show {target_error:g} wrong answers per request, {needed} are needed"
        return _cut(probes, default, target_error, bound=None, why=f"default cut: {why}")
    wrong = np.sort(probes.scores[~probes.right])[::-1]
    score = float(np.nextafter(wrong[allowed], np.inf)) if len(wrong) > allowed else 0.0
    made = int((wrong >= score).sum())
    bound = upper_bound(made, n)
    why = f"{made} of {n} probes wrong, at most {bound:.4f} with {CONFIDENCE:.0%} confidence"
    return _cut(probes, score, target_error, bound=bound, why=why)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question that somebody asked, and the entry that answers it; None if none does."""

    text: str
    entry: str | None


async def shelf_cut(
    entries: Sequence[Entry],
    encoder: Encoder,
    *,
    weighing: Weighing,
    target_error: float,
    default: float,
    labelled: Sequence[Labelled] = (),
) -> Cut:
    """The cut for the active entries of one shelf.

    Labelled questions are the traffic itself and stand in the place of the probes, as soon as
    there are enough of them to show the target.
    """
    texts = [text for entry in entries for text in entry.phrasings]
    owners = np.repeat(np.arange(len(entries)), [len(entry.phrasings) for entry in entries])
    if not texts:
        nothing = Probes(np.empty(0), np.empty(0, bool), np.empty(0, bool))
        return cut_for(nothing, target_error=target_error, default=default)
    vectors = await encoder.encode(texts)
    shelf = await to_thread.run_sync(lambda: ShelfArrays.of(vectors, texts, owners))
    if _wrong_allowed(len(labelled), target_error) < 0:
        probes = await to_thread.run_sync(lambda: probe(shelf, weighing))
        return cut_for(probes, target_error=target_error, default=default)
    asked = await encoder.encode([one.text for one in labelled])
    gold = _gold(entries, labelled)
    texts = [one.text for one in labelled]
    probes = await to_thread.run_sync(lambda: ask(shelf, asked, texts, gold, weighing))
    cut = cut_for(probes, target_error=target_error, default=default)
    return replace(cut, why=f"labelled questions: {cut.why}")


def probe(shelf: ShelfArrays, weighing: Weighing) -> Probes:
    """Hold out each phrasing, then its whole entry, and see what would have been served."""
    sizes = shelf.entry_sizes
    owners = np.repeat(np.arange(len(sizes)), sizes)
    scores, right, answerable = [], [], []
    for rows in _chunks(len(owners)):
        own = owners[rows]
        evidence = shelf.held_out(rows)
        findable = sizes[own] > 1  # a single phrasing leaves nothing to be found by
        found = weighing.probability(evidence)
        gone = weighing.probability(without_entries(evidence, own))
        gone[np.arange(len(rows)), own] = 0.0
        scores += [found.max(axis=1)[findable], gone.max(axis=1)]
        right += [(found.argmax(axis=1) == own)[findable], np.zeros(len(rows), bool)]
        answerable += [np.ones(int(findable.sum()), bool), np.zeros(len(rows), bool)]
    return Probes(np.concatenate(scores), np.concatenate(right), np.concatenate(answerable))


def ask(
    shelf: ShelfArrays, vectors: Vector, texts: Sequence[str], gold: Owners, weighing: Weighing
) -> Probes:
    """What the shelf would have served for questions whose entry is known (-1: none)."""
    scores, right = [], []
    for rows in _chunks(len(texts)):
        found = weighing.probability(shelf.evidence(vectors[rows], [texts[row] for row in rows]))
        scores.append(found.max(axis=1))
        right.append(found.argmax(axis=1) == gold[rows])
    return Probes(np.concatenate(scores), np.concatenate(right), gold >= 0)


def _gold(entries: Sequence[Entry], labelled: Sequence[Labelled]) -> Owners:
    number = {entry.id: at for at, entry in enumerate(entries)}
    return np.array([number.get(one.entry or "", -1) for one in labelled], np.intp)


def _wrong_allowed(n: int, target_error: float) -> int:
    """How many of n probes may be wrong within the target; -1 if not even none shows it."""
    wrong = -1
    while wrong + 1 < n and upper_bound(wrong + 1, n) <= target_error:
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


def _chunks(n: int) -> Iterator[Owners]:
    for start in range(0, n, _CHUNK):
        yield np.arange(start, min(n, start + _CHUNK))
