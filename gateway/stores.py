"""What is kept and how it is found: SQL, the two indexes, and the encoder whose vectors are in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import assert_never

import structlog
from anyio import to_thread

from cache.indexing import index_pending, reindex, repair
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.trial.collisions import Collision, shelf_collisions, worst_first
from classifiers.retrieval import RelevanceJudge
from classifiers.retrieval.reading import ReadingJudge
from encoders import Encoder, EncoderIdentity, OpenEncoder
from encoders.memo import MemoEncoder
from encoders.onnx import OnnxEncoder
from encoders.pairs import MemoPairModel, PairModel
from encoders.sentence_transformers import SentenceTransformersEncoder
from encoders.shipped import load_shipped, load_shipped_answering, load_shipped_pairs
from gateway.documents.ingestion import Documents
from gateway.documents.passages import PassageSearch
from gateway.review.entries.rereview import follow_renamed, outdate_and_ask
from gateway.settings import Settings
from languages.identification import Language, language_of
from storage.edge import EdgeIndex
from storage.resealing import check_keys
from storage.sql import Database
from storage.vectors import VectorIndex

__all__ = [
    "FOR_ONE_GATEWAY",
    "Stores",
    "open_database",
    "open_encoder",
    "open_pair_model",
    "open_stores",
]

FOR_ONE_GATEWAY = (
    "storage.url without storage.qdrant_url: the index is this gateway's own. Only one gateway at a time may "
    "use the database, and what is imported elsewhere reaches it at its next start; for several set "
    "storage.qdrant_url."
)
READ_BEFORE = 8_192  # answers and pieces of passages with their questions: who repeats one costs no reading
Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Open stores. SQL is the truth, the indexes follow it."""

    database: Database
    encoder: Encoder
    model: Encoder  # the encoder without its memory: whether it answers, only this one says
    entry_index: VectorIndex
    passage_index: VectorIndex
    entries: EntryStore
    documents: Documents
    passages: PassageSearch
    reading: RelevanceJudge  # whether passages answer
    shelf: Shelf
    default_language: Language  # of questions whose script does not tell
    indexing: asyncio.Lock = field(default_factory=asyncio.Lock)  # else two would encode the same entries

    def language_of(self, text: str) -> Language:
        """On which shelf a question by itself is looked for."""
        return language_of(text, default=self.default_language)

    async def index_pending(self, *, progress: Progress | None = None) -> int:
        """Bring the index of entries up to SQL; says how many changed."""
        async with self.indexing:
            return await index_pending(self.entries, self.entry_index, self.encoder, progress=progress)

    async def catch_up(self) -> None:
        """At start-up: index what was left behind, and what the index lost all the same."""
        await self.index_pending()
        if differs := await repair(self.entries, self.entry_index, self.encoder):
            log = structlog.get_logger("sekisho.index")
            log.warning("index repaired", missing=len(differs.missing), unknown=len(differs.unknown))

    async def collisions(self, tenant: str, *, language: str | None = None) -> tuple[Collision, ...]:
        """The pairs of a tenant's served entries that compete, the worst first."""
        found: list[Collision] = []
        for owner, written in await self.entries.shelves():
            if owner == tenant and language in (None, written):
                entries = await self.entries.whole_shelf(tenant, written)
                found += await shelf_collisions(self.shelf, entries, self.encoder)
        return tuple(sorted(found, key=worst_first))

    async def reindex(self, *, progress: Progress | None = None) -> None:
        """Rebuild both indexes from SQL."""
        await reindex(self.entries, self.entry_index, self.encoder, progress=progress)
        await self.documents.reindex()


@asynccontextmanager
async def open_stores(
    settings: Settings, *, rebuild: bool = False, apart: bool = False
) -> AsyncIterator[Stores]:
    """The stores of a configuration; `rebuild` throws away indexes that another encoder made.

    With `apart` a gateway may run beside: the indexes are new, empty, and gone afterwards. What SQL counts as
    indexed is in the gateway's, so these may be filled by `index_apart` only.

    Raises:
        DatabaseUnavailable, IndexUnavailable, EncoderError: naming what can't be opened.
    """
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        model = await _open_model(settings, stack)
        encoder = _remembering(model, settings)
        two_persons = settings.review.two_persons
        if apart:
            settings = settings.stored_in(Path(stack.enter_context(TemporaryDirectory(prefix="sekisho-"))))
        entry_index, passage_index = [
            await _open_index(settings, name, encoder.identity, stack, rebuild=rebuild)
            for name in ("entries", "passages")
        ]
        entries = EntryStore(database, two_persons=two_persons, timezone=settings.cache.timezone)
        pairs = None
        if settings.cache.pair_model:
            pairs = await open_pair_model(load_shipped_pairs, remembered=settings.encoder.remembered)
        answers = await open_pair_model(load_shipped_answering, remembered=READ_BEFORE)
        shelf = Shelf(
            entries,
            entry_index,
            encoder,
            target_error=settings.cache.target_error,
            pairs=pairs,
            answers=answers if settings.cache.answer_model else None,
        )
        yield Stores(
            database=database,
            encoder=encoder,
            model=model,
            entry_index=entry_index,
            passage_index=passage_index,
            entries=entries,
            documents=Documents(
                database, passage_index, encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed
            ),
            passages=PassageSearch(database, passage_index, encoder.identity),
            reading=_reading(model, answers, settings),
            shelf=shelf,
            default_language=settings.understanding.default_language,
        )


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The truth alone, for what needs no index.

    Raises:
        DatabaseUnavailable: naming what can't be opened, or the key without which it can't be read.
    """
    seal = settings.storage.seal()
    database = await Database.open(settings.database_url, seal=seal)
    try:
        await check_keys(database, seal)
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def open_encoder(settings: Settings) -> AsyncIterator[Encoder]:
    """The configured embedding model, remembering recent texts.

    Raises:
        EncoderError: naming what is missing.
    """
    async with AsyncExitStack() as stack:
        yield _remembering(await _open_model(settings, stack), settings)


def _remembering(model: Encoder, settings: Settings) -> Encoder:
    size = settings.encoder.remembered
    return MemoEncoder(model, size=size) if size else model


async def _open_model(settings: Settings, stack: AsyncExitStack) -> Encoder:
    model = await _load_model(settings)
    stack.push_async_callback(model.close)
    return model


async def _load_model(settings: Settings) -> OpenEncoder:
    chosen = settings.encoder
    match chosen.kind:
        case "onnx":
            load = (
                partial(OnnxEncoder.load, settings.path(Path(chosen.model))) if chosen.model else load_shipped
            )
            return await to_thread.run_sync(partial(load, threads=chosen.threads))
        case "sentence-transformers":
            return await to_thread.run_sync(
                partial(
                    SentenceTransformersEncoder.load,
                    chosen.model or "",
                    device=chosen.device,
                    languages=chosen.languages,
                )
            )
        case "openai":
            from encoders.remote import RemoteEncoder  # openai's client takes half a second to import

            key = chosen.api_key.get_secret_value() if chosen.api_key else None
            return await RemoteEncoder.open(
                base_url=chosen.base_url or "",
                model=chosen.model or "",
                api_key=key,
                languages=chosen.languages,
            )
        case _:
            assert_never(chosen.kind)


def _reading(encoder: Encoder, answers: PairModel, settings: Settings) -> ReadingJudge:
    """Which remembers vectors for itself."""
    chosen = settings.upstream.corrective
    if chosen.evaluator == "llm":  # the cuts are the model's
        return ReadingJudge(encoder, answers)
    return ReadingJudge(
        encoder, answers, correct_from=chosen.correct_from, incorrect_below=chosen.incorrect_below
    )


async def open_pair_model(load: Callable[[], PairModel], *, remembered: int) -> PairModel:
    """What reads two texts together, remembering so many recent pairs.

    Raises:
        EncoderError: naming what is missing.
    """
    model = await to_thread.run_sync(load)
    return MemoPairModel(model, size=remembered) if remembered else model


async def _open_index(
    settings: Settings, name: str, identity: EncoderIdentity, stack: AsyncExitStack, *, rebuild: bool
) -> VectorIndex:
    index = await _load_index(settings, name, identity, rebuild=rebuild)
    stack.push_async_callback(index.close)
    return index


async def _load_index(
    settings: Settings, name: str, identity: EncoderIdentity, *, rebuild: bool
) -> VectorIndex:
    """An embedded index in a folder of its own, or a collection on the Qdrant server."""
    storage = settings.storage
    if storage.qdrant_url is None:
        return await EdgeIndex.open(settings.index_folder / name, identity=identity, rebuild=rebuild)
    from qdrant_client import AsyncQdrantClient  # half a second of a start that most do without

    from storage.qdrant import QdrantIndex

    key = storage.qdrant_api_key.get_secret_value() if storage.qdrant_api_key else None
    client = AsyncQdrantClient(url=storage.qdrant_url, api_key=key)
    return await QdrantIndex.open(client, f"sekisho-{name}", identity=identity, rebuild=rebuild)
