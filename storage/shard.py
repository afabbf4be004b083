"""The open shard of an embedded index. Every call blocks, and the errors of the binding stop here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import qdrant_edge as qdrant

from encoders import EncoderIdentity, Vector
from storage import graph
from storage.lexical import Lexicon
from storage.points import DENSE, TEXT_KEY, WORDS, best_first
from storage.vectors import Found, IndexUnavailable, Point, Where

__all__ = ["Shard"]

# A flush stops the process for 50 to 140 ms. A killed process loses nothing without it, for a write is logged
# before it is acknowledged; it shortens the log that the next start has to read.
FLUSH_EVERY: Final = 4_000  # points
LARGEST_KB: Final = 1 << 30  # of vectors in one graph
# The binding writes into mapped files: where the disk has no page left for one, the system kills the process.
ROOM: Final = 64 << 20  # bytes; several times what one write takes
_PARAMETERS: Final = qdrant.SearchParams(
    hnsw_ef=graph.TRIED,
    quantization=qdrant.QuantizationSearchParams(rescore=True, oversampling=graph.OVERSAMPLING),
)


class Shard:
    """Points in the files of one folder."""

    def __init__(self, path: Path, shard: qdrant.EdgeShard) -> None:
        self.path = path
        self._shard = shard
        self._lexicon = Lexicon()
        self._keys = set(shard.info().payload_schema)
        self._unflushed = 0
        self._empty = not self.count()
        self.unoptimised = 0  # points outside the search graph
        self.journal: list[qdrant.UpdateOperation] | None = None  # what was written since the copy was made

    @classmethod
    def create(cls, path: Path, identity: EncoderIdentity) -> Shard:
        """A new, empty shard; what was in the folder is removed."""
        shutil.rmtree(path, ignore_errors=True)
        with _translated(path):
            path.mkdir(parents=True)
            _refuse_full_disk(path)
            return cls(path, qdrant.EdgeShard.create(str(path), _config(identity)))

    @classmethod
    def load(cls, path: Path, identity: EncoderIdentity) -> Shard:
        """The shard in the folder."""
        with _translated(path):
            _refuse_full_disk(path)
            return cls(path, qdrant.EdgeShard.load(str(path), _config(identity)))

    def upsert(self, points: Sequence[Point]) -> None:
        """Add or replace points, and index the payload keys that are new; nobody searches by a number."""
        pairs = {pair for point in points for pair in point.payload.items()}
        for key in {key for key, value in pairs if isinstance(value, str)}:
            self._index_key(key)
        self._update(qdrant.UpdateOperation.upsert_points([self._point(point) for point in points]))
        self._empty = self._empty and not points
        self.unoptimised += len(points)
        self._unflushed += len(points)
        if self._unflushed >= FLUSH_EVERY:
            self.flush()

    def delete(self, where: Where) -> None:
        """Remove the points that meet every condition."""
        self._update(qdrant.UpdateOperation.delete_points_by_filter(_filter(where)))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove the points with these ids."""
        self._update(qdrant.UpdateOperation.delete_points([*ids]))

    def nearest(self, vector: Vector, where: Where, limit: int) -> list[Found]:
        """By cosine."""
        return self._search(qdrant.Query.Nearest(vector.tolist(), using=DENSE), where, limit)

    def matching(self, text: str, where: Where, limit: int) -> list[Found]:
        """By BM25."""
        words = self._lexicon.question(text)
        if not words.indices:
            return []
        query = qdrant.SparseVector(words.indices, words.values)
        return self._search(qdrant.Query.Nearest(query, using=WORDS), where, limit)

    def page_of_ids(self, offset: Any, limit: int) -> tuple[list[str], Any]:
        """Some ids, and where the next ones begin (None after the last)."""
        with _translated(self.path):
            records, following = self._shard.scroll(
                qdrant.ScrollRequest(offset=offset, limit=limit, with_payload=False)
            )
        return [str(record.id) for record in records], following

    def count(self) -> int:
        """How many points there are."""
        with _translated(self.path):
            return self._shard.count(qdrant.CountRequest(exact=True))

    def replay(self, journal: Sequence[qdrant.UpdateOperation]) -> None:
        """Catch up with what was written to the shard that this one was copied from."""
        for operation in journal:
            self._update(operation)
        self._empty = not self.count()
        self.flush()

    def flush(self) -> None:
        """Bring everything to the disk."""
        with _translated(self.path):
            self._shard.flush()
        self._unflushed = 0

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        with _translated(self.path):
            self._shard.close()  # flushes

    def _index_key(self, key: str) -> None:
        if key in self._keys:
            return
        self._update(qdrant.UpdateOperation.create_field_index(key, qdrant.PayloadSchemaType.Keyword))
        self._keys.add(key)

    def _point(self, point: Point) -> qdrant.Point:
        words = self._lexicon.document(point.text)
        vectors: dict[str, Any] = {DENSE: point.vector.tolist()}
        if words.indices:
            vectors[WORDS] = qdrant.SparseVector(words.indices, words.values)
        return qdrant.Point(point.id, vectors, {TEXT_KEY: point.text, **point.payload})

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        with _translated(self.path):
            _refuse_full_disk(self.path)
            self._shard.update(operation)
        if self.journal is not None:
            self.journal.append(operation)

    def _search(self, query: qdrant.Query, where: Where, limit: int) -> list[Found]:
        if limit < 1 or self._empty:
            return []
        condition = _filter(where) if where else None
        request = qdrant.QueryRequest(
            limit=limit, query=query, filter=condition, with_payload=True, params=_PARAMETERS
        )
        with _translated(self.path):
            return best_first([_found(point) for point in self._shard.query(request)])


def _config(identity: EncoderIdentity) -> qdrant.EdgeConfig:
    return qdrant.EdgeConfig(
        vectors={DENSE: qdrant.EdgeVectorParams(identity.dimensions, qdrant.Distance.Cosine)},
        sparse_vectors={WORDS: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
        hnsw_config=qdrant.HnswIndexConfig(graph.EDGES, graph.TRIED, graph.SMALL_KB),
        quantization_config=qdrant.ScalarQuantizationConfig(
            qdrant.ScalarType.Int8, memory=qdrant.Memory.Pinned
        ),
        # One graph, however many cores there are: two cost two searches.
        optimizers=qdrant.EdgeOptimizersConfig(default_segment_number=1, max_segment_size=LARGEST_KB),
        max_search_threads=1,  # then it searches where it is asked: waking others costs half a search more
    )


def _filter(where: Where) -> qdrant.Filter:
    return qdrant.Filter(
        must=[qdrant.FieldCondition(key, match=_match(wanted)) for key, wanted in where.items()]
    )


def _match(wanted: str | int | tuple[str, ...]) -> qdrant.MatchValue | qdrant.MatchAny:
    return qdrant.MatchAny(list(wanted)) if isinstance(wanted, tuple) else qdrant.MatchValue(wanted)


def _found(point: qdrant.ScoredPoint) -> Found:
    payload = dict(point.payload or {})
    return Found(str(point.id), point.score, str(payload.pop(TEXT_KEY, "")), payload)


def _refuse_full_disk(path: Path) -> None:
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError as error:
        raise IndexUnavailable(f"the folder {path.parent} cannot be found: {error.strerror}") from error
    if free < ROOM:
        raise IndexUnavailable(
            f"the index in {path} cannot be written: {free >> 20} MB are free on its disk, "
            f"{ROOM >> 20} MB are needed. Free some space"
        )


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """The binding raises bare `Exception`s, and over damaged files panics, which are no `Exception`s."""
    try:
        yield
    except BaseException as error:
        if type(error) is Exception or type(error).__name__ == "PanicException":
            reason = " ".join(str(error).split())
            raise IndexUnavailable(
                f"the index in {path} cannot be used ({reason or 'panic'}). If that stays so, it is damaged: "
                "run `sekisho reindex` to rebuild it"
            ) from error
        raise
