"""The evidence of many questions against a whole shelf at once, for calibration and fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cache.matching.evidence import ENTRIES, EVIDENCE, PHRASINGS, Numbers, covered
from cache.reading.spelling import spelt
from cache.reading.text import character_grams, normalise
from cache.reading.wording import WORDED, agreements
from encoders import Vector

__all__ = ["Owners", "ShelfArrays", "without_entries"]

Owners = NDArray[np.intp]
_BEST, _MARGIN, _CENTRAL, _CENTRAL_MARGIN, _CHARACTERS, _CHARACTERS_MARGIN, _ALIGNED, _COVERED = range(
    len(EVIDENCE)
)


@dataclass(frozen=True, slots=True)
class ShelfArrays:
    """The phrasings of a shelf as arrays, those of one entry beside each other."""

    vectors: Vector
    texts: tuple[str, ...]
    language: str
    grams: csr_array  # a row per phrasing, a 1 for each of its character n-grams
    sizes: Numbers  # how many n-grams each phrasing has
    columns: dict[str, int]
    starts: Owners  # where each entry begins
    sums: Vector  # of the vectors of each entry

    @classmethod
    def of(cls, vectors: Vector, texts: Sequence[str], owners: Owners, language: str) -> Self:
        """The shelf of these phrasings; `owners` numbers the entry of each, ascending."""
        columns: dict[str, int] = {}
        grams, sizes = _gram_table(texts, columns, language, grow=True)
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        sums = np.add.reduceat(vectors, starts, axis=0)
        return cls(vectors, tuple(texts), language, grams, sizes, columns, starts, sums)

    @property
    def entry_sizes(self) -> Owners:
        """How many phrasings each entry has."""
        ends = np.append(self.starts[1:], len(self.sizes))
        return np.asarray(ends - self.starts, np.intp)

    def evidence(self, vectors: Vector, texts: Sequence[str], *, itself: Owners | None = None) -> Numbers:
        """The evidence for every entry, shape (questions, entries, pieces of evidence).

        For questions that stand on the shelf `itself` has their rows: each is judged as if it did not.
        """
        grams, sizes = _gram_table(texts, self.columns, self.language, grow=False)
        return _with_leads(self._without_leads(vectors, texts, grams, sizes, itself))

    def held_out(self, rows: Owners) -> Numbers:
        """The evidence for phrasings of the shelf itself, each as if it were not on it."""
        return self.evidence(self.vectors[rows], [self.texts[row] for row in rows], itself=rows)

    def _without_leads(
        self, vectors: Vector, texts: Sequence[str], grams: csr_array, sizes: Numbers, itself: Owners | None
    ) -> Numbers:
        cosines = (vectors @ self.vectors.T).astype(np.float64)
        both = sizes[:, None] + self.sizes[None, :]
        shares = 2 * (grams @ self.grams.T).toarray() / np.maximum(both, 1)
        if itself is not None:
            held = np.arange(len(itself)), itself
            cosines[held] = shares[held] = -np.inf
        evidence = np.full((len(cosines), len(self.starts), len(EVIDENCE)), -np.inf)
        evidence[:, :, _BEST] = np.maximum.reduceat(cosines, self.starts, axis=1)
        central = self._central(cosines, itself)
        near = evidence[:, :, _BEST] >= _largest(evidence[:, :, _BEST], ENTRIES)
        evidence[:, :, _CENTRAL] = np.where(near, central, -np.inf)
        evidence[:, :, _CHARACTERS] = np.maximum.reduceat(shares, self.starts, axis=1)
        evidence[:, :, _ALIGNED], unaligned = self._worded(texts, itself)
        evidence[:, :, _COVERED] = covered(np.maximum(evidence[:, :, _CHARACTERS], 0.0), unaligned)
        return evidence

    def _worded(self, texts: Sequence[str], itself: Owners | None) -> tuple[Numbers, Numbers]:
        """How the words of each text agree with each entry's phrasings."""
        if self.language not in WORDED:
            nothing = np.zeros((len(texts), len(self.starts)))
            return nothing, nothing + 1.0
        aligned, unaligned = agreements(texts, self.texts, self.language)
        if itself is not None:
            held = np.arange(len(itself)), itself
            aligned[held], unaligned[held] = 0.0, 1.0
        best: Numbers = np.maximum.reduceat(aligned, self.starts, axis=1)
        return best, np.minimum.reduceat(unaligned, self.starts, axis=1)

    def nearest_phrasings(self, vectors: Vector, entries: Owners, itself: Owners | None = None) -> list[str]:
        """For each question the nearest phrasing of one entry; never the question itself, if held out."""
        ends = self.starts + self.entry_sizes
        nearest = []
        for at, entry in enumerate(entries):
            rows = np.arange(self.starts[entry], ends[entry])
            if itself is not None and len(rows) > 1:
                rows = rows[rows != itself[at]]
            nearest.append(self.texts[rows[np.argmax(self.vectors[rows] @ vectors[at])]])
        return nearest

    def _central(self, cosines: Numbers, itself: Owners | None) -> Numbers:
        """The cosine of the mean of every entry's phrasings, as far as the index tells serving about it."""
        seen = np.where(np.isinf(cosines), 0.0, np.maximum(cosines, _largest(cosines, PHRASINGS)))
        summed: Numbers = np.add.reduceat(seen, self.starts, axis=1)
        lengths = np.tile(np.linalg.norm(self.sums, axis=1), (len(cosines), 1)).astype(np.float64)
        if itself is not None:
            own = np.searchsorted(self.starts, itself, side="right") - 1
            rest = np.linalg.norm(self.sums[own] - self.vectors[itself], axis=1)
            lengths[np.arange(len(itself)), own] = np.where(self.entry_sizes[own] > 1, rest, 0.0)
        return np.divide(summed, lengths, out=np.full_like(summed, -np.inf), where=lengths > 0)


def _largest(values: Numbers, place: int) -> Numbers:
    """The number in that place of each row, the largest first, shape (rows, 1); -inf if there are fewer."""
    if values.shape[1] < place:
        return np.full((len(values), 1), -np.inf)
    return np.partition(values, -place, axis=1)[:, -place, None]


def without_entries(evidence: Numbers, entries: Owners) -> Numbers:
    """The evidence as if one entry per question were not on the shelf."""
    changed = evidence.copy()
    changed[np.arange(len(entries)), entries] = -np.inf
    return _with_leads(changed)


def _with_leads(evidence: Numbers) -> Numbers:
    """The evidence with each entry's lead over the best other one filled in, in place."""
    evidence[:, :, _MARGIN] = _lead(evidence[:, :, _BEST])
    central = evidence[:, :, _CENTRAL]
    evidence[:, :, _CENTRAL_MARGIN] = np.where(np.isneginf(central), -np.inf, _lead(central))
    evidence[:, :, _CHARACTERS_MARGIN] = _lead(evidence[:, :, _CHARACTERS])
    return evidence


def _lead(values: Numbers) -> Numbers:
    """Each value less the largest other one of its row; infinite where there is no other."""
    lead = np.full(values.shape, np.inf)
    if values.shape[1] < 2:
        return lead
    top = np.partition(values, -2, axis=1)[:, -2:]
    other = np.repeat(top[:, 1:], values.shape[1], axis=1)
    other[np.arange(len(values)), values.argmax(axis=1)] = top[:, 0]
    np.subtract(values, other, out=lead, where=np.isfinite(values) & np.isfinite(other))
    return lead


def _gram_table(
    texts: Sequence[str], columns: dict[str, int], language: str, *, grow: bool
) -> tuple[csr_array, Numbers]:
    grams = [character_grams(normalise(spelt(text, language))) for text in texts]
    if grow:
        for one in grams:
            for gram in one:
                columns.setdefault(gram, len(columns))
    known = [[columns[gram] for gram in one if gram in columns] for one in grams]
    bounds = np.cumsum([0, *map(len, known)])
    indices = np.fromiter((column for row in known for column in row), np.int32, bounds[-1])
    table = csr_array((np.ones(len(indices), np.float32), indices, bounds), shape=(len(texts), len(columns)))
    return table, np.array([len(one) for one in grams], np.float64)
