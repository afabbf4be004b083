"""The operator's own documents: read from files, kept in SQL, found through the index.

SQL is changed first and in one transaction; the index follows. A process that dies in between leaves
documents whose `indexed_version` is not their version, or points that no passage knows: `index_pending`
finds both at the next start. Who has to know of a change is told in that transaction: verified entries that
came from another version go stale. A text that is found under another name only was renamed, as all are when
a folder is added to theirs: entries follow it. They follow one whose text changed at the same time as well,
and go stale.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from sqlalchemy import Row, bindparam, case, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from classifiers.retrieval import under_headings
from encoders import Encoder
from gateway.documents.chunking import Chunk
from gateway.documents.reading import RefusedFile, SourceDocument, read_documents
from gateway.documents.renaming import mostly_the_same, the_same
from storage import schema
from storage.locking import one_at_a_time
from storage.parts import in_parts
from storage.sql import Database
from storage.vectors import Point, VectorIndex

__all__ = ["DocumentChange", "Documents", "IngestReport", "Progress"]

Progress = Callable[[str, int, int], None]  # what is done ("read" or "index"), how many, of how many


_NAMESPACE = uuid.UUID("6f1d3c52-0c0e-5d5e-9a57-3f6b8d1f7a11")
_ENCODED_AT_ONCE = 64
_ROWS_AT_ONCE = 500  # SQLite takes 32,766 values in a statement
_DOCUMENTS = schema.documents.c
_PASSAGES = schema.passages.c


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the files."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)  # what they were called, to what they are
    refused: tuple[RefusedFile, ...] = ()
    passages: int = 0  # put into the index by this run

    @property
    def names(self) -> list[str]:
        """What all the files are called now, those that can't be read included."""
        read = (*self.added, *self.changed, *self.unchanged, *self.renamed.values())
        return [*read, *(file.path for file in self.refused)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """A document that changed or went, with its texts where they are known."""

    document: str
    version: str | None  # None: it is gone
    before: str = ""
    after: str = ""


OnChanged = Callable[[AsyncConnection, Sequence[DocumentChange]], Awaitable[object]]
OnRenamed = Callable[[AsyncConnection, Mapping[str, str]], Awaitable[object]]  # the old names to the new


class Documents:
    """Keeps documents and passages in SQL and in an index that holds nothing but passages."""

    def __init__(
        self,
        database: Database,
        index: VectorIndex,
        encoder: Encoder,
        *,
        on_changed: OnChanged,
        on_renamed: OnRenamed,
    ) -> None:
        """Both are called in the transaction of the change: no crash leaves an entry behind its document."""
        self._database = database
        self._index = index
        self._encoder = encoder
        self._on_changed = on_changed
        self._on_renamed = on_renamed
        self._one_at_a_time = asyncio.Lock()

    async def ingest(self, roots: Sequence[Path], *, progress: Progress | None = None) -> IngestReport:
        """Make SQL and the index agree with these folders and files.

        A document whose file is gone is removed. One whose file can't be read any more stays as it was.

        Raises:
            ConfigurationError: a folder or file does not exist.
        """
        read = await to_thread.run_sync(partial(_read, roots, progress))
        report, gone = await self._record(
            [found for found in read if isinstance(found, SourceDocument)],
            tuple(found for found in read if isinstance(found, RefusedFile)),
        )
        for document in gone:
            await self._index.delete(where={"document": document})
        passages = await self.index_pending(progress=progress)
        return replace(report, passages=passages)

    async def index_pending(self, *, progress: Progress | None = None) -> int:
        """Index what is not indexed yet and drop points that no passage knows; says how many were indexed."""
        async with self._one_at_a_time:
            return await self._catch_up(progress)

    async def _catch_up(self, progress: Progress | None) -> int:
        # The index first: a point that is in it had its passage in SQL before.
        indexed = await self._index.ids()
        async with self._database.connect() as connection:
            kept = set((await connection.execute(select(_PASSAGES.id))).scalars())
        if orphans := indexed - kept:
            await self._index.remove(orphans)
        if lost := kept - indexed:
            await self._mark_lost(lost)
        passages = 0
        while pending := await self._pending():
            passages += await self._index_documents(pending, progress)
        return passages

    async def state(self) -> str:
        """A digest of all documents as they are indexed: another one means that something changed."""
        found = hashlib.sha256()
        order = select(_DOCUMENTS.id, _DOCUMENTS.indexed_version).order_by(_DOCUMENTS.id)
        async with self._database.connect() as connection:
            for row in await connection.execute(order):
                found.update(f"{row.id} {row.indexed_version}\n".encode())
        return found.hexdigest()

    async def some_passages(self, most: int) -> list[str]:
        """At most so many passages as they stand in the index; ids that order them are as good as drawn."""
        some = select(_PASSAGES.heading, _PASSAGES.text).order_by(_PASSAGES.id).limit(most)
        async with self._database.connect() as connection:
            return [under_headings(row.heading, row.text) for row in await connection.execute(some)]

    async def reindex(self, *, progress: Progress | None = None) -> int:
        """Rebuild the index from SQL, after another model was configured."""
        async with self._one_at_a_time:
            await self._index.clear()
            async with self._database.begin() as connection:
                await connection.execute(update(schema.documents).values(indexed_version=""))
            return await self._catch_up(progress)

    async def _record(
        self, found: Sequence[SourceDocument], refused: tuple[RefusedFile, ...]
    ) -> tuple[IngestReport, list[str]]:
        added, changed, unchanged = [], [], []
        reviewed: list[DocumentChange] = []
        async with self._database.begin() as connection:
            await one_at_a_time(connection, "documents", space=20261122)  # what another recorded is unchanged
            stored = {row.path: row for row in await connection.execute(_STORED)}
            for document in found:
                before = stored.pop(document.path, None)
                if before is None:
                    added.append(document)
                    await _store(connection, document)
                elif (before.version, before.title, before.cut) != _as_stored(document):
                    changed.append(document.path)
                    reviewed += await _replace(connection, before, document)
                else:
                    unchanged.append(document.path)
            gone = [row for row in stored.values() if not _still_there(row.path, refused)]
            renamed, rewritten = await _renamed(connection, gone, added)
            for row in gone:
                await _forget(connection, row.id)
            if renamed:
                await self._on_renamed(connection, renamed)
            removed = [row.path for row in gone if row.path not in renamed]
            reviewed += [DocumentChange(document=path, version=None) for path in removed]
            reviewed += rewritten
            if reviewed:
                await self._on_changed(connection, reviewed)
        named_anew = set(renamed.values())
        report = IngestReport(
            added=tuple(one.path for one in added if one.path not in named_anew),
            changed=tuple(changed),
            unchanged=tuple(unchanged),
            removed=tuple(removed),
            renamed=renamed,
            refused=refused,
        )
        return report, [row.id for row in gone]

    async def _mark_lost(self, passages: Iterable[str]) -> None:
        """Passages that the index should have and has not: their documents are indexed again."""
        async with self._database.begin() as connection:
            for batch in in_parts(sorted(passages), _ROWS_AT_ONCE):
                lost = select(_PASSAGES.document_id).where(_PASSAGES.id.in_(batch))
                await connection.execute(
                    update(schema.documents).where(_DOCUMENTS.id.in_(lost)).values(indexed_version="")
                )

    async def _pending(self) -> list[tuple[str, str]]:
        behind = select(_DOCUMENTS.id, _DOCUMENTS.version).where(
            _DOCUMENTS.indexed_version != _DOCUMENTS.version
        )
        async with self._database.connect() as connection:
            return [
                (row.id, row.version) for row in await connection.execute(behind.order_by(_DOCUMENTS.path))
            ]

    async def _index_documents(self, pending: Sequence[tuple[str, str]], progress: Progress | None) -> int:
        done, passages = 0, 0
        for batch in in_parts(pending, _ENCODED_AT_ONCE):
            async with self._database.connect() as connection:
                rows = (await connection.execute(_OF_DOCUMENTS, {"ids": [id_ for id_, _ in batch]})).all()
            for part in in_parts(rows, _ENCODED_AT_ONCE):
                await self._index.upsert(await self._points(part))
            await self._mark_indexed(batch)
            done, passages = done + len(batch), passages + len(rows)
            if progress:
                progress("index", done, len(pending))
        return passages

    async def _points(self, rows: Sequence[Row[*tuple[Any, ...]]]) -> list[Point]:
        texts = [under_headings(row.heading, row.text) for row in rows]
        vectors = await self._encoder.encode(texts)
        return [
            Point(
                id=row.id,
                vector=vector,
                text=text,
                payload={
                    "document": row.document_id,
                    "path": row.path,
                    "language": row.language,
                },
            )
            for row, text, vector in zip(rows, texts, vectors, strict=True)
        ]

    async def _mark_indexed(self, batch: Sequence[tuple[str, str]]) -> None:
        """Only the version that was indexed counts: a document may have changed meanwhile.

        One that another replica has indexed since is behind again: our points may have come after its.
        """
        async with self._database.begin() as connection:
            await connection.execute(_MARK, [{"document": id_, "indexed": version} for id_, version in batch])


_STORED = select(_DOCUMENTS.id, _DOCUMENTS.path, _DOCUMENTS.version, _DOCUMENTS.title, _DOCUMENTS.cut)
_OF_DOCUMENTS = (
    select(
        _PASSAGES.id,
        _PASSAGES.document_id,
        _PASSAGES.heading,
        _PASSAGES.text,
        _DOCUMENTS.path,
        _DOCUMENTS.language,
    )
    .join(schema.documents, _DOCUMENTS.id == _PASSAGES.document_id)
    .where(_DOCUMENTS.id.in_(bindparam("ids", expanding=True)))
    .order_by(_DOCUMENTS.path, _PASSAGES.position)
)
_MARK = (
    update(schema.documents)
    .where(_DOCUMENTS.id == bindparam("document"))
    .values(
        indexed_version=case((_DOCUMENTS.version == bindparam("indexed"), bindparam("indexed")), else_="")
    )
)


async def _store(
    connection: AsyncConnection, document: SourceDocument, *, changed: datetime | None = None
) -> None:
    id_ = _document_id(document.path)
    await connection.execute(
        insert(schema.documents).values(
            id=id_,
            path=document.path,
            title=document.title,
            version=_version(document.text),
            cut=_cut(document),
            language=document.language,
            text=document.text,
            updated_at=changed or datetime.now(UTC),
        )
    )
    rows = [_passage_row(document.path, id_, at, chunk) for at, chunk in enumerate(document.chunks)]
    for batch in in_parts(rows, _ROWS_AT_ONCE):
        await connection.execute(insert(schema.passages), list(batch))


async def _replace(
    connection: AsyncConnection, before: Row[*tuple[Any, ...]], document: SourceDocument
) -> list[DocumentChange]:
    """Store the document in the place of what it was; the change of its text, if that changed."""
    stored = select(_DOCUMENTS.text, _DOCUMENTS.updated_at).where(_DOCUMENTS.id == before.id)
    text, changed = (await connection.execute(stored)).one()
    await _forget(connection, before.id)
    version = _version(document.text)
    if version == before.version:
        await _store(connection, document, changed=changed)
        return []
    await _store(connection, document)
    return [DocumentChange(document=document.path, version=version, before=text, after=document.text)]


async def _forget(connection: AsyncConnection, document: str) -> None:
    await connection.execute(delete(schema.passages).where(_PASSAGES.document_id == document))
    await connection.execute(delete(schema.documents).where(_DOCUMENTS.id == document))


async def _renamed(
    connection: AsyncConnection, gone: Sequence[Row[*tuple[Any, ...]]], added: Sequence[SourceDocument]
) -> tuple[dict[str, str], list[DocumentChange]]:
    """The old names of documents to their new ones, and the changes of those whose text changed, too."""
    came = {document.path: document.text for document in added}
    same = the_same(
        {row.path: row.version for row in gone}, {path: _version(text) for path, text in came.items()}
    )
    others = {path: text for path, text in came.items() if path not in same.values()}
    paths = [row.path for row in gone if row.path not in same]
    before: dict[str, str] = {}
    for batch in in_parts(paths if others else [], _ROWS_AT_ONCE):
        texts = select(_DOCUMENTS.path, _DOCUMENTS.text).where(_DOCUMENTS.path.in_(batch))
        before |= {row.path: row.text for row in await connection.execute(texts)}
    rewritten = mostly_the_same(before, others)
    return same | rewritten, [
        DocumentChange(document=now, version=_version(came[now]), before=before[was], after=came[now])
        for was, now in rewritten.items()
    ]


def _passage_row(path: str, document: str, position: int, chunk: Chunk) -> dict[str, Any]:
    """Ids come from path and position, so that indexing twice writes the same point twice."""
    return {
        "id": str(uuid.uuid5(_NAMESPACE, f"{path}\n{position}")),
        "document_id": document,
        "position": position,
        "heading": chunk.heading,
        "text": chunk.text,
    }


def _document_id(path: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, path))


def _as_stored(document: SourceDocument) -> tuple[str, str, str]:
    return _version(document.text), document.title, _cut(document)


def _version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _cut(document: SourceDocument) -> str:
    """A digest of the passages as they are stored; another release may cut the same text otherwise."""
    parts = [document.language, *(part for one in document.chunks for part in (one.heading, one.text))]
    return _version("\0".join(parts))


def _still_there(path: str, refused: Iterable[RefusedFile]) -> bool:
    """Whether a stored document's file, or its line of one, is there but can't be read at present."""
    return any(
        path == file.path or (path.startswith(f"{file.path}#") and file.line in (None, _line(path)))
        for file in refused
    )


def _line(path: str) -> int | None:
    number = path.rpartition("#")[2]
    return int(number) if number.isdigit() else None


def _read(roots: Sequence[Path], progress: Progress | None) -> list[SourceDocument | RefusedFile]:
    found: list[SourceDocument | RefusedFile] = []
    for document in read_documents(roots):
        found.append(document)
        if progress:
            progress("read", len(found), len(found))
    return found
