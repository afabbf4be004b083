"""The shelf as if an entry were on it, or were not: the code that serves says what would happen then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from sqlalchemy import select

from cache.entries import Entry
from cache.indexing import payload_of, shelf_key
from cache.reading.spelling import encode_spelt
from cache.reading.text import normalise
from cache.shelf import Shelf
from cache.store.served import Phrased, ServedEntries
from encoders import Encoder, Vector
from storage.points import best_first
from storage.schema import entries
from storage.vectors import Found, Payload, VectorIndex

__all__ = ["Trial", "Trials"]


class Trials:
    """Puts entries on the shelf for a moment; nothing is stored and no asker sees it."""

    def __init__(self, shelf: Shelf, store: ServedEntries, index: VectorIndex, encoder: Encoder) -> None:
        self._shelf = shelf
        self._store = store
        self._index = index
        self._encoder = encoder

    async def of(self, entry: Entry) -> Trial:
        """The entry on trial, in the place of the one with its id, if there is one.

        Raises:
            EncoderError: if its phrasings can't be encoded.
        """
        vectors = await encode_spelt(self._encoder, entry.phrasings, entry.language)
        groups = await self._groups(entry)
        return Trial(entry, vectors, groups, self._shelf, self._store, self._index)

    async def _groups(self, entry: Entry) -> tuple[str, ...]:
        if entry.group:
            return (entry.group,)
        statement = select(entries.c.group).where(
            entries.c.tenant == entry.tenant,
            entries.c.language == entry.language,
            entries.c.state == "active",
            entries.c.group != "",
        )
        async with self._store.db.connect() as connection:
            return ("", *sorted(await connection.scalars(statement.distinct())))


@dataclass(frozen=True, slots=True)
class Trial:
    """An entry, and the shelf with and without it."""

    entry: Entry
    vectors: Vector  # of its phrasings, shape (phrasings, dimensions)
    groups: tuple[str, ...]  # whose askers would see it, beside whatever else those see
    shelf: Shelf
    store: ServedEntries
    index: VectorIndex

    def gone(self) -> Shelf:
        """The shelf as if the entry were not on it."""
        return self._over(None, ())

    def there(self, *, without: str | None = None) -> Shelf:
        """The shelf as if the entry were on it, but for one of its phrasings."""
        rows = [row for row, text in enumerate(self.entry.phrasings) if text != without]
        kept = tuple(self.entry.phrasings[row] for row in rows)
        if not kept:
            return self.gone()
        points = tuple(zip(kept, self.vectors[rows], strict=True))
        return self._over(replace(self.entry, phrasings=kept), points)

    def _over(self, entry: Entry | None, points: Sequence[tuple[str, Vector]]) -> Shelf:
        store = _TrialStore(self.store, instead_of=self.entry.id, entry=entry)
        index = _TrialIndex(self.index, instead_of=self.entry, points=points)
        return self.shelf.over(store, cast("VectorIndex", index))  # a shelf only searches


class _TrialStore(ServedEntries):
    """The entries that are served, with one of them changed, new or gone."""

    def __init__(self, real: ServedEntries, *, instead_of: str, entry: Entry | None) -> None:
        super().__init__(real.db)
        self._real = real
        self._instead_of = instead_of
        self._entry = entry

    async def served(
        self, tenant: str, language: str, ids: Sequence[str] | None = None, *, group: str = ""
    ) -> tuple[Entry, ...]:
        """As the real store, with the entry on trial."""
        found = await self._real.served(tenant, language, ids, group=group)
        others = tuple(entry for entry in found if entry.id != self._instead_of)
        if self._entry is None or (ids is not None and self._entry.id not in ids):
            return others
        return (*others, self._entry)

    async def find_exact(self, tenant: str, text: str, language: str, *, group: str = "") -> Phrased | None:
        """As the real store, the entry on trial first."""
        own = [one for one in self._phrasings() if normalise(one) == normalise(text)]
        if own and self._entry is not None:
            return Phrased(self._entry, own[0])
        found = await self._real.find_exact(tenant, text, language, group=group)
        return None if found is None or found.entry.id == self._instead_of else found

    def _phrasings(self) -> tuple[str, ...]:
        return self._entry.phrasings if self._entry is not None else ()


class _TrialIndex:
    """The index, with the phrasings of one entry changed, new or gone."""

    def __init__(self, real: VectorIndex, *, instead_of: Entry, points: Sequence[tuple[str, Vector]]) -> None:
        self._real = real
        self._instead_of = instead_of
        self._points = points

    async def nearest(self, vector: Vector, /, *, where: Payload, limit: int) -> list[Found]:
        """As the real index, with the phrasings on trial among them."""
        found = await self._real.nearest(vector, where=where, limit=self._wider(limit))
        own = [self._found(text, float(vector @ one)) for text, one in self._points]
        return best_first([*self._others(found), *own])[:limit]

    async def matching(self, text: str, /, *, where: Payload, limit: int) -> list[Found]:
        """As the real index, the entry on trial first: it is always looked at."""
        found = await self._real.matching(text, where=where, limit=self._wider(limit))
        own = [self._found(phrasing, 0.0) for phrasing, _ in self._points[:1]]
        return [*own, *self._others(found)][:limit]

    def _wider(self, limit: int) -> int:
        """So many more that the entry's own points, which are left out, can't crowd out others."""
        return limit + len(self._instead_of.phrasings)

    def _others(self, found: Sequence[Found]) -> list[Found]:
        return [one for one in found if one.payload["entry"] != self._instead_of.id]

    def _found(self, text: str, score: float) -> Found:
        entry = self._instead_of
        shelf = shelf_key(entry.tenant, entry.language, entry.group)
        vectors = np.stack([vector for _, vector in self._points])
        return Found(f"{entry.id}/{text}", score, text, payload_of(entry.id, shelf, vectors))
