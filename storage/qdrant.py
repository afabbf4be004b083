"""A Qdrant server or cluster: the index that many gateways share. Ranks as the embedded one does."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import grpc  # type: ignore[import-untyped]  # it ships no types
from pydantic import ValidationError
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from encoders import EncoderIdentity, Vector
from storage import graph
from storage.lexical import Lexicon
from storage.parts import in_parts
from storage.points import (
    DENSE,
    TEXT_KEY,
    WORDS,
    best_first,
    checked_points,
    checked_vector,
    checked_where,
    label,
    refuse_mismatch,
)
from storage.vectors import Found, IndexUnavailable, Point, Where

__all__ = ["QdrantIndex"]

LABEL: Final = "sekisho"  # the key of our metadata of a collection
PIECE: Final = 256
PAGE: Final = 1_000
CONFLICT: Final = 409
_PARAMETERS: Final = models.SearchParams(
    hnsw_ef=graph.TRIED,
    quantization=models.QuantizationSearchParams(rescore=True, oversampling=graph.OVERSAMPLING),
)

# What the client lets out: its own errors, those of its transports, and, from its local mode, bare
# ValueError and RuntimeError. (A reply that makes no sense is a ValidationError, which is a ValueError.)
ERRORS: Final = (
    ApiException,
    QdrantException,
    grpc.RpcError,
    OSError,
    RuntimeError,
    ValueError,
)


class QdrantIndex:
    """A `VectorIndex` in a collection of a server. It closes the client that it was opened with."""

    def __init__(self, client: AsyncQdrantClient, collection: str, identity: EncoderIdentity) -> None:
        self._client = client
        self._collection = collection
        self._identity = identity
        self._lexicon = Lexicon()
        self._keys: set[str] = set()
        self._closed = False

    @classmethod
    async def open(
        cls, client: AsyncQdrantClient, collection: str, *, identity: EncoderIdentity, rebuild: bool = False
    ) -> QdrantIndex:
        """The collection, made if there is none. With `rebuild`, whatever was in it is thrown away.

        Raises:
            IndexMismatch: if other vectors are in it than this encoder makes.
            IndexUnavailable: if the server cannot be asked.
        """
        index = cls(client, collection, identity)
        try:
            await index._settle(rebuild=rebuild)
        except BaseException:
            await index.close()
            raise
        return index

    async def upsert(self, points: Sequence[Point], /) -> None:
        """Add points, or replace those with the same id; done when the server has them on its disk."""
        checked = checked_points(points, self._identity.dimensions)
        with self._translated():
            pairs = {pair for point in checked for pair in point.payload.items()}
            await self._index_keys({key for key, value in pairs if isinstance(value, str)})
            for start in range(0, len(checked), PIECE):
                piece = [self._struct(point) for point in checked[start : start + PIECE]]
                await self._client.upsert(self._collection, points=piece, wait=True)

    async def delete(self, *, where: Where) -> None:
        """Remove the points that meet every condition."""
        condition = models.FilterSelector(filter=_filter(checked_where(where)))
        with self._translated():
            await self._client.delete(self._collection, points_selector=condition, wait=True)

    async def remove(self, ids: Collection[str], /) -> None:
        """Remove the points with these ids."""
        with self._translated():
            for some in in_parts([*ids], PAGE):
                chosen = models.PointIdsList(points=[*some])
                await self._client.delete(self._collection, points_selector=chosen, wait=True)

    async def nearest(self, vector: Vector, /, *, where: Where, limit: int) -> list[Found]:
        """By cosine of the dense vectors, best first."""
        checked = checked_vector(vector, self._identity.dimensions)
        return await self._search(checked.tolist(), DENSE, where, limit)

    async def matching(self, text: str, /, *, where: Where, limit: int) -> list[Found]:
        """By BM25, best first; points without a common word are left out."""
        words = self._lexicon.question(text)
        if not words.indices:
            with self._translated():
                return []
        query = models.SparseVector(indices=words.indices, values=words.values)
        return await self._search(query, WORDS, where, limit)

    async def ids(self) -> set[str]:
        """The ids of all points."""
        found: set[str] = set()
        offset: Any = None
        with self._translated():
            while True:
                records, offset = await self._client.scroll(
                    self._collection, limit=PAGE, offset=offset, with_payload=False, with_vectors=False
                )
                found.update(str(record.id) for record in records)
                if offset is None:
                    return found

    async def clear(self) -> None:
        """Remove all points; the collection stays, for other gateways may be asking it."""
        everything = models.FilterSelector(filter=models.Filter())
        with self._translated():
            await self._client.delete(self._collection, points_selector=everything, wait=True)

    async def close(self) -> None:
        """Let go of the server. Later calls say that the index is closed."""
        self._closed = True
        await self._client.close()

    @property
    def _place(self) -> str:
        return f"the Qdrant collection {self._collection!r}"

    async def _settle(self, *, rebuild: bool) -> None:
        with self._translated():
            if rebuild:
                await self._client.delete_collection(self._collection)
            if not await self._client.collection_exists(self._collection):
                await self._create()
            stored = (await self._client.get_collection(self._collection)).config.metadata
        refuse_mismatch(self._place, (stored or {}).get(LABEL), self._identity)

    async def _create(self) -> None:
        try:
            await self._client.create_collection(
                self._collection,
                vectors_config={
                    DENSE: models.VectorParams(
                        size=self._identity.dimensions, distance=models.Distance.COSINE
                    )
                },
                sparse_vectors_config={WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                hnsw_config=models.HnswConfigDiff(
                    m=graph.EDGES, ef_construct=graph.TRIED, full_scan_threshold=graph.SMALL_KB
                ),
                quantization_config=models.ScalarQuantization(
                    scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
                ),
                metadata={LABEL: label(self._identity)},
            )
        except UnexpectedResponse as error:
            if error.status_code != CONFLICT:  # another gateway started at the same moment
                raise

    async def _index_keys(self, keys: set[str]) -> None:
        """Index the keys that are new; nobody searches by a number."""
        for key in keys - self._keys:
            with warnings.catch_warnings():  # the local mode filters without an index, and says so
                warnings.filterwarnings("ignore", "Payload indexes have no effect in the local Qdrant")
                await self._client.create_payload_index(
                    self._collection, key, models.PayloadSchemaType.KEYWORD, wait=True
                )
            self._keys.add(key)

    def _struct(self, point: Point) -> models.PointStruct:
        words = self._lexicon.document(point.text)
        vectors: dict[str, Any] = {DENSE: point.vector.tolist()}
        if words.indices:
            vectors[WORDS] = models.SparseVector(indices=words.indices, values=words.values)
        return models.PointStruct(
            id=point.id, vector=vectors, payload={TEXT_KEY: point.text, **point.payload}
        )

    async def _search(self, query: Any, using: str, where: Where, limit: int) -> list[Found]:
        if limit < 1:
            return []
        with self._translated():
            reply = await self._client.query_points(
                self._collection,
                query=query,
                using=using,
                query_filter=_filter(where) if where else None,
                limit=limit,
                with_payload=True,
                search_params=_PARAMETERS,
            )
        return best_first([_found(point) for point in reply.points])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        if self._closed:
            raise IndexUnavailable(f"{self._place} cannot be used: it is closed")
        try:
            yield
        except ERRORS as error:
            raise IndexUnavailable(f"{self._place} cannot be used: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    match error:
        case UnexpectedResponse():
            return f"the server answered {error.status_code} {error.reason_phrase}".strip()
        case ResponseHandlingException():
            return f"no answer from the server ({error.source})"
        case ValidationError():
            return "the server's answer makes no sense; is it a Qdrant server of version 1.16 or later?"
        case _:
            return " ".join(str(error).split()) or type(error).__name__


def _filter(where: Where) -> models.Filter:
    return models.Filter(
        must=[models.FieldCondition(key=key, match=_match(wanted)) for key, wanted in where.items()]
    )


def _match(wanted: str | int | tuple[str, ...]) -> models.MatchValue | models.MatchAny:
    if isinstance(wanted, tuple):
        return models.MatchAny(any=list(wanted))
    return models.MatchValue(value=wanted)


def _found(point: models.ScoredPoint) -> Found:
    payload = dict(point.payload or {})
    return Found(str(point.id), point.score, str(payload.pop(TEXT_KEY, "")), payload)
