from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from encoders import Encoder, EncoderError, EncoderIdentity, Vector
from encoders.testing import HashingEncoder
from gateway.documents.ingestion import Documents, IngestReport
from gateway.errors import ConfigurationError
from gateway.review.entries.rereview import follow_renamed, outdate_and_ask
from storage import schema
from storage.sql import Database
from storage.testing import MemoryIndex
from storage.vectors import VectorIndex
from tests.postgres import PostgresServer

LONG = "# Long\n\n" + "The office at window number five is open from nine to five on weekdays. " * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "documents"
    found.mkdir()
    (found / "library.md").write_text("# Library\n\n## Hours\n\nOpen from nine.\n\n## Loans\n\nTen books.")
    (found / "図書館.md").write_text("# 図書館\n\n月曜日は休館です。")
    (found / "long.md").write_text(LONG)
    return found


def kept(database: Database, index: VectorIndex, encoder: Encoder) -> Documents:
    return Documents(database, index, encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed)


@pytest.fixture
def documents(database: Database, index: VectorIndex, encoder: Encoder) -> Documents:
    return kept(database, index, encoder)


async def passages(database: Database) -> dict[str, str]:
    async with database.connect() as connection:
        rows = await connection.execute(select(schema.passages.c.id, schema.passages.c.text))
        return {row.id: row.text for row in rows}


async def agree(database: Database, index: VectorIndex) -> bool:
    return set(await passages(database)) == await index.ids()


async def test_documents_go_to_sql_and_passages_to_the_index(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    steps: list[tuple[str, int, int]] = []
    report = await documents.ingest([folder], progress=lambda *step: steps.append(step))
    assert report.added == ("library.md", "long.md", "図書館.md")
    assert report.refused == report.changed == report.removed == ()
    assert report.passages == len(await passages(database)) > 5
    assert await agree(database, index)
    assert steps == [("read", 1, 1), ("read", 2, 2), ("read", 3, 3), ("index", 3, 3)]
    [found, *_] = await index.matching("Ten books", where={"language": "en"}, limit=5)
    assert found.text == "Library › Loans\nTen books."
    assert found.payload["path"] == "library.md"


async def test_what_has_not_changed_is_not_touched(
    documents: Documents, database: Database, folder: Path
) -> None:
    await documents.ingest([folder])
    before = await passages(database)
    report = await documents.ingest([folder])
    assert report.unchanged == ("library.md", "long.md", "図書館.md")
    assert (report.added, report.changed, report.passages) == ((), (), 0)
    assert await passages(database) == before


async def test_a_changed_document_is_indexed_anew_and_leaves_nothing_behind(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    await documents.ingest([folder])
    (folder / "long.md").write_text("# Long\n\nNow it is short.")
    report = await documents.ingest([folder])
    assert (report.changed, report.passages) == (("long.md",), 1)
    assert await agree(database, index)
    found = await index.matching("short window number five", where={}, limit=10)
    assert [f.text for f in found if f.payload["path"] == "long.md"] == ["Long\nNow it is short."]


async def test_what_another_release_cut_otherwise_is_cut_again_and_makes_no_entry_stale(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    await documents.ingest([folder])
    cut = await passages(database)
    library = schema.documents.c.path == "library.md"
    async with database.begin() as connection:
        id_ = await connection.scalar(select(schema.documents.c.id).where(library))
        of_it = schema.passages.c.document_id == id_
        await connection.execute(delete(schema.passages).where(of_it, schema.passages.c.position > 0))
        await connection.execute(update(schema.documents).where(library).values(cut="another"))
    report = await documents.ingest([folder])
    assert (report.changed, report.unchanged) == (("library.md",), ("long.md", "図書館.md"))
    assert await passages(database) == cut
    assert await agree(database, index)
    assert (await documents.ingest([folder])).changed == ()


async def test_a_removed_document_is_forgotten(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    await documents.ingest([folder])
    (folder / "library.md").unlink()
    report = await documents.ingest([folder])
    assert report.removed == ("library.md",)
    assert await agree(database, index)
    assert await index.matching("Ten books", where={"language": "en"}, limit=5) == []


async def test_a_document_that_cannot_be_read_any_more_stays_as_it_was(
    documents: Documents, database: Database, folder: Path
) -> None:
    (folder / "rows.jsonl").write_text('{"title": "A", "text": "Fine."}\n{"title": "B", "text": "Fine too."}')
    await documents.ingest([folder])
    before = await passages(database)
    (folder / "library.md").write_bytes(b"\xff\xfe broken")
    (folder / "rows.jsonl").write_text('{"title": "A", "text": "Fine."}\n{"title": "B"')
    (folder / os.fsdecode("料金.md".encode("cp932"))).write_text("10 yen.")
    report = await documents.ingest([folder])
    assert [str(file) for file in report.refused] == [
        "library.md: not UTF-8: byte 0xff at position 0",
        "rows.jsonl, line 2: not JSON",
        r"\x97\xbf\x8b\xe0.md: its name is not UTF-8",
    ]
    assert report.removed == ()
    assert await passages(database) == before


async def test_an_empty_folder_empties_the_store_and_a_missing_one_does_not(
    documents: Documents, database: Database, index: VectorIndex, folder: Path, tmp_path: Path
) -> None:
    await documents.ingest([folder])
    with pytest.raises(ConfigurationError, match="nowhere"):
        await documents.ingest([tmp_path / "nowhere"])
    assert await passages(database)
    (tmp_path / "empty").mkdir()
    report = await documents.ingest([tmp_path / "empty"])
    assert len(report.removed) == 3
    assert await passages(database) == {}
    assert await index.ids() == set()


async def test_ids_are_the_same_in_every_store(
    documents: Documents,
    database: Database,
    encoder: Encoder,
    index: VectorIndex,
    folder: Path,
    tmp_path: Path,
) -> None:
    await documents.ingest([folder])
    other = await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'other.db'}")
    await kept(other, index, encoder).ingest([folder])
    assert await passages(other) == await passages(database)
    await other.close()


class DyingEncoder:
    """Encodes so many batches, then fails as if the process had been killed there."""

    def __init__(self, inner: Encoder, batches: int) -> None:
        self._inner = inner
        self._left = batches

    @property
    def identity(self) -> EncoderIdentity:
        return self._inner.identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        if not self._left:
            raise EncoderError("gone")
        self._left -= 1
        return await self._inner.encode(texts)


async def test_what_was_recorded_and_not_indexed_is_found_again_at_the_next_start(
    database: Database, index: VectorIndex, encoder: Encoder, folder: Path
) -> None:
    rows = "\n".join(f'{{"title": "T{n}", "text": "Row number {n}."}}' for n in range(150))
    (folder / "rows.jsonl").write_text(rows)
    with pytest.raises(EncoderError):
        await kept(database, index, DyingEncoder(encoder, 2)).ingest([folder])
    assert 0 < len(await index.ids()) < len(await passages(database))
    assert await kept(database, index, encoder).index_pending() > 0
    assert await agree(database, index)
    assert await kept(database, index, encoder).index_pending() == 0


async def test_points_that_were_lost_or_left_over_are_mended_at_the_next_start(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    await documents.ingest([folder])
    lost = next(iter(await passages(database)))
    await index.delete(where={"passage": lost})
    async with database.begin() as connection:
        await connection.execute(delete(schema.documents).where(schema.documents.c.path == "library.md"))
    assert not await agree(database, index)
    await documents.index_pending()
    assert await agree(database, index)


async def test_reindex_makes_the_index_anew(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    await documents.ingest([folder])
    async with database.begin() as connection:
        await connection.execute(
            update(schema.passages).where(schema.passages.c.text == "Ten books.").values(text="Eleven books.")
        )
    assert await documents.reindex() == len(await passages(database))
    [found, *_] = await index.matching("Eleven books", where={}, limit=1)
    assert found.text == "Library › Loans\nEleven books."


async def test_replicas_that_start_at_once_record_each_document_once(
    postgres: PostgresServer, encoder: HashingEncoder, folder: Path
) -> None:
    name = await postgres.create_database()
    index = MemoryIndex(encoder.identity)
    replicas = [await Database.open(postgres.url(name)) for _ in range(4)]
    each = [kept(one, index, encoder) for one in replicas]
    reports = await asyncio.gather(*(documents.ingest([folder]) for documents in each))
    (folder / "long.md").write_text("# Long\n\nNow it is short.")
    again = await asyncio.gather(*(documents.ingest([folder]) for documents in each))
    assert await agree(replicas[0], index)
    for one in replicas:
        await one.close()
    assert sorted(len(report.added) for report in reports) == [0, 0, 0, 3]
    assert sorted(len(report.changed) for report in again) == [0, 0, 0, 1]
    await postgres.drop_database(name)


class OvertakenEncoder:
    """Encodes, and gives its first vectors back when something else has been done."""

    def __init__(self, inner: Encoder, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._inner = inner
        self._meanwhile = [meanwhile]

    @property
    def identity(self) -> EncoderIdentity:
        return self._inner.identity

    async def encode(self, texts: Sequence[str], /) -> Vector:
        vectors = await self._inner.encode(texts)
        while self._meanwhile:
            await self._meanwhile.pop()()
        return vectors


async def test_what_a_replica_indexes_after_another_that_knew_better_is_indexed_again(
    documents: Documents, database: Database, index: VectorIndex, encoder: Encoder, folder: Path
) -> None:
    async def change() -> None:
        (folder / "library.md").write_text("# Library\n\n## Hours\n\nOpen from ten.")
        await documents.ingest([folder])

    await kept(database, index, OvertakenEncoder(encoder, change)).ingest([folder])
    found = await index.matching("Open from ten", where={"path": "library.md"}, limit=5)
    assert found[0].text == "Library › Hours\nOpen from ten."
    assert await documents.index_pending() == 0  # what it left beside them was only taken out
    assert await agree(database, index)


async def test_many_runs_at_once_agree(
    documents: Documents, database: Database, index: VectorIndex, folder: Path
) -> None:
    runs = await asyncio.gather(documents.ingest([folder]), *(documents.index_pending() for _ in range(5)))
    assert isinstance(runs[0], IngestReport)
    assert await agree(database, index)
