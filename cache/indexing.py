"""Bringing the index up to what SQL says: SQL first, the index after, and found again at start-up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Integer, bindparam, case, select, update

from cache.matching.evidence import spread
from cache.reading.spelling import spelt
from cache.store import EntryStore
from cache.store.queries import Filters
from encoders import Encoder, Vector
from storage.parts import in_parts
from storage.schema import entries, entry_phrasings
from storage.vectors import Payload, Point, VectorIndex

__all__ = [
    "Disagreement",
    "Progress",
    "disagreement",
    "index_apart",
    "index_pending",
    "payload_of",
    "reindex",
    "repair",
    "shelf_key",
    "spread_of",
]

BATCH = 128  # entries at a time: a few hundred phrasings fill the encoder's batches
BEHIND = 64 * BATCH  # entries read at a time: to find them, SQL looks at all that are behind
_SPREAD = 10_000  # the index keeps no fractions
Progress = Callable[[int], object]
"""Told after each batch how many entries it held."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Phrasings that SQL serves and the index lacks, and points that SQL does not know."""

    missing: frozenset[str]
    unknown: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.unknown)


@dataclass(frozen=True, slots=True)
class _Behind:
    id: str
    state: str
    revision: int
    indexed_revision: int

    @property
    def may_have_points(self) -> bool:
        """False for entries that never were in the index: nothing to remove, so imports are quick."""
        return self.indexed_revision > 0 or self.revision > 1


@dataclass(frozen=True, slots=True)
class _Phrasing:
    id: str
    text: str
    entry: str
    tenant: str
    group: str
    language: str


async def index_pending(
    store: EntryStore, index: VectorIndex, encoder: Encoder, *, progress: Progress | None = None
) -> int:
    """Bring every changed entry into the index, or out of it; returns how many.

    Safe to run in several replicas: an entry counts as indexed only if it still is at the
    revision that was read, else it is done again.

    Raises:
        IndexUnavailable, EncoderError, DatabaseUnavailable: what was done stays done.
    """
    done = 0
    while behind := await _behind(store):
        await _index_all(store, index, encoder, behind, progress=progress)
        done += len(behind)
    return done


async def index_apart(store: EntryStore, index: VectorIndex, encoder: Encoder, tenant: str) -> None:
    """Put a tenant's active entries into an index of its own: what SQL counts as indexed is in another.

    Raises:
        IndexUnavailable, EncoderError, DatabaseUnavailable.
    """
    async for page in store.walk(tenant, Filters(state="active")):
        for batch in in_parts(page.entries, BATCH):
            await index.upsert(await _points(store, encoder, [entry.id for entry in batch]))


async def _index_all(
    store: EntryStore,
    index: VectorIndex,
    encoder: Encoder,
    behind: Sequence[_Behind],
    *,
    progress: Progress | None,
) -> None:
    """A batch after the other; while one is written, the next one is encoded."""
    batches = [*in_parts(behind, BATCH)]
    coming = asyncio.ensure_future(_points(store, encoder, _served(batches[0])))
    try:
        for batch, following in zip(batches, [*batches[1:], []], strict=True):
            points = await coming
            coming = asyncio.ensure_future(_points(store, encoder, _served(following)))
            await _index(store, index, batch, points)
            if progress is not None:
                progress(len(batch))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)


async def reindex(
    store: EntryStore, index: VectorIndex, encoder: Encoder, *, progress: Progress | None = None
) -> Disagreement:
    """Rebuild the index from SQL; returns what still differs after it, which should be nothing."""
    await index.clear()  # first: a gateway beside us indexes at once what counts as behind
    async with store.db.begin() as connection:
        await connection.execute(update(entries).values(indexed_revision=0))
    await index_pending(store, index, encoder, progress=progress)
    return await disagreement(store, index)


async def repair(store: EntryStore, index: VectorIndex, encoder: Encoder) -> Disagreement:
    """Index what the index lacks and take out what SQL does not serve; says what that was.

    Everything else is served meanwhile, so a replica may do it while others serve and change entries. What
    was taken out and is approved again by then is indexed again; to index something twice changes nothing.
    """
    differs = await disagreement(store, index)
    if differs:
        await index.remove(differs.unknown)
        async with store.db.begin() as connection:
            for ids in in_parts(sorted(differs.missing | differs.unknown), BATCH):
                theirs = select(entry_phrasings.c.entry_id).where(entry_phrasings.c.id.in_(ids))
                behind = update(entries).where(entries.c.id.in_(theirs))
                await connection.execute(behind.values(indexed_revision=0))
        await index_pending(store, index, encoder)
    return differs


async def disagreement(store: EntryStore, index: VectorIndex) -> Disagreement:
    """How the index differs from SQL. It is read first: whatever is in it was approved in SQL before."""
    present = await index.ids()
    statement = (
        select(entry_phrasings.c.id)
        .join(entries, entries.c.id == entry_phrasings.c.entry_id)
        .where(entries.c.state == "active")
    )
    async with store.db.connect() as connection:
        wanted = frozenset(await connection.scalars(statement))
    return Disagreement(missing=wanted - present, unknown=frozenset(present - wanted))


async def _behind(store: EntryStore) -> list[_Behind]:
    columns = entries.c
    statement = (
        select(columns.id, columns.state, columns.revision, columns.indexed_revision)
        .where(columns.indexed_revision < columns.revision)
        .order_by(columns.updated_at, columns.id)
        .limit(BEHIND)
    )
    async with store.db.connect() as connection:
        return [_Behind(*row) for row in await connection.execute(statement)]


def _served(batch: Sequence[_Behind]) -> list[str]:
    return [one.id for one in batch if one.state == "active"]


async def _points(store: EntryStore, encoder: Encoder, ids: Sequence[str]) -> list[Point]:
    """The points of entries."""
    phrasings = await _phrasings(store, ids)
    if not phrasings:
        return []
    vectors = await encoder.encode([spelt(row.text, row.language) for row in phrasings])
    return [*_pointed(phrasings, vectors)]


def _pointed(phrasings: Sequence[_Phrasing], vectors: Vector) -> Iterator[Point]:
    """A point for each phrasing, those of one entry beside each other."""
    start = 0
    for _, group in groupby(phrasings, key=attrgetter("entry")):
        rows = [*group]
        own = vectors[start : (start := start + len(rows))]
        shelf = shelf_key(rows[0].tenant, rows[0].language, rows[0].group)
        payload = payload_of(rows[0].entry, shelf, own)
        for row, vector in zip(rows, own, strict=True):
            yield Point(id=row.id, vector=vector, text=row.text, payload=payload)


async def _index(
    store: EntryStore, index: VectorIndex, batch: Sequence[_Behind], points: Sequence[Point]
) -> None:
    if outdated := tuple(one.id for one in batch if one.may_have_points):
        await index.delete(where={"entry": outdated})
    if points:
        await index.upsert(points)
    await _mark(store, batch)


async def _phrasings(store: EntryStore, ids: Sequence[str]) -> Sequence[_Phrasing]:
    statement = (
        select(
            entry_phrasings.c.id,
            entry_phrasings.c.text,
            entries.c.id.label("entry"),
            entries.c.tenant,
            entries.c.group,
            entries.c.language,
        )
        .join(entries, entries.c.id == entry_phrasings.c.entry_id)
        .where(entries.c.id.in_(ids))
        .order_by(entries.c.id, entry_phrasings.c.position)
    )
    async with store.db.connect() as connection:
        return [_Phrasing(*row) for row in await connection.execute(statement)]


def shelf_key(tenant: str, language: str, group: str) -> str:
    """What a search is narrowed to: with one condition the index answers sooner than with three."""
    return f"{tenant}/{language}/{group}"  # neither of the latter two can hold a slash


def payload_of(entry: str, shelf: str, vectors: Vector) -> Payload:
    """What the index keeps beside each phrasing of an entry, given the vectors of all of them."""
    return {"entry": entry, "shelf": shelf, "spread": max(1, round(spread(vectors) * _SPREAD))}


def spread_of(payload: Payload) -> float:
    """The spread of an entry's phrasings, as the index keeps it."""
    return int(payload.get("spread", _SPREAD)) / _SPREAD


async def _mark(store: EntryStore, batch: Sequence[_Behind]) -> None:
    """Count the entries as indexed, but those that were changed meanwhile as behind.

    Those too that another replica has indexed since: our points may have come after its.
    """
    ours = bindparam("ours", type_=Integer)
    still_ours = case((entries.c.revision == ours, ours), else_=0)
    statement = update(entries).where(entries.c.id == bindparam("entry")).values(indexed_revision=still_ours)
    async with store.db.begin() as connection:
        await connection.execute(statement, [{"entry": one.id, "ours": one.revision} for one in batch])
