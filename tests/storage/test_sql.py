"""What holds of the store of truth, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import asyncio
import stat
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, delete, insert, select, text, update
from sqlalchemy.exc import IntegrityError, StatementError
from structlog.testing import capture_logs

from storage import sql
from storage.schema import entries, entry_phrasings, metadata, settings, tickets
from storage.sql import Database, DatabaseUnavailable
from tests.postgres import PostgresServer

NOON = datetime(2026, 4, 1, 12, 0, 0, 250_000, tzinfo=UTC)


async def put(database: Database, name: str, value: Any = None, at: datetime = NOON) -> None:
    async with database.begin() as connection:
        await connection.execute(insert(settings).values(name=name, value=value, updated_at=at))


async def names(database: Database) -> set[str]:
    async with database.connect() as connection:
        return set((await connection.execute(select(settings.c.name))).scalars())


async def value(database: Database, name: str) -> Any:
    async with database.connect() as connection:
        return (
            await connection.execute(select(settings.c.value).where(settings.c.name == name))
        ).scalar_one()


async def test_migrations_and_schema_agree(database: Database) -> None:
    def differences(connection: Connection) -> list[Any]:
        options = {"compare_type": True, "compare_server_default": True}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with database.connect() as connection:
        assert await connection.run_sync(differences) == []


async def test_a_store_that_is_opened_again_has_kept_everything(database_url: str) -> None:
    first = await Database.open(database_url)
    await put(first, "kept", {"質問": ["営業時間は？"]})
    await first.close()
    second = await Database.open(database_url)
    assert await value(second, "kept") == {"質問": ["営業時間は？"]}
    await second.close()


async def test_replicas_that_start_at_once_migrate_once(database_url: str) -> None:
    replicas = await asyncio.gather(*(Database.open(database_url) for _ in range(4)))
    await put(replicas[0], "shared")
    assert [await names(replica) for replica in replicas] == [{"shared"}] * 4
    for replica in replicas:
        await replica.close()


async def test_a_newer_schema_is_left_alone(database_url: str) -> None:
    database = await Database.open(database_url)
    async with database.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await database.close()
    with pytest.raises(DatabaseUnavailable, match=r"schema revision 9999.*later one"):
        await Database.open(database_url)


async def test_an_exception_rolls_the_whole_transaction_back(database: Database) -> None:
    async def fail() -> None:
        async with database.begin() as connection:
            await connection.execute(insert(settings).values(name="lost", value=1, updated_at=NOON))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await names(database) == set()


async def test_a_broken_constraint_is_no_outage(database: Database) -> None:
    await put(database, "once")
    with pytest.raises(IntegrityError):
        await put(database, "once")


async def test_foreign_keys_are_enforced_and_cascade(database: Database) -> None:
    async def add_phrasing(**values: Any) -> None:
        async with database.begin() as connection:
            await connection.execute(insert(entry_phrasings).values(**phrasing | values))

    phrasing: dict[str, Any] = {
        "id": "p",
        "entry_id": "e",
        "tenant": "t",
        "position": 0,
        "text": "?",
        "normalised": "?",
    }
    phrasing |= {"exact_key": b"k" * 16}
    entry = {
        "id": "e",
        "tenant": "t",
        "kind": "ground_truth",
        "language": "ja",
        "answer": "!",
        "state": "active",
    }
    async with database.begin() as connection:
        await connection.execute(insert(entries).values(**entry, created_at=NOON, updated_at=NOON))
    await add_phrasing()
    with pytest.raises(IntegrityError):
        await add_phrasing(id="q", entry_id="nobody")
    async with database.begin() as connection:
        await connection.execute(delete(entries).where(entries.c.id == "e"))
    async with database.connect() as connection:
        assert (await connection.execute(select(entry_phrasings))).all() == []


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(NOON, id="UTC"),
        pytest.param(NOON.astimezone(timezone(timedelta(hours=9))), id="Tokyo"),
        pytest.param(NOON.astimezone(timezone(-timedelta(hours=3, minutes=30))), id="St. John's"),
    ],
)
async def test_moments_come_back_aware_and_in_utc(database: Database, moment: datetime) -> None:
    await put(database, "then", at=moment)
    async with database.connect() as connection:
        stored = (await connection.execute(select(settings.c.updated_at))).scalar_one()
        found = await connection.execute(select(settings.c.name).where(settings.c.updated_at == moment))
    assert (stored, stored.utcoffset()) == (NOON, timedelta(0))
    assert found.scalars().all() == ["then"]


async def test_a_moment_without_a_time_zone_is_refused(database: Database) -> None:
    with pytest.raises(StatementError, match="a moment needs a time zone"):
        await put(database, "when", at=datetime(2026, 4, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param("営業時間は？\n", "営業時間は？\n", id="Japanese"),
        pytest.param("𠮷野家 👩‍👩‍👧", "𠮷野家 👩‍👩‍👧", id="beyond the basic plane"),
        pytest.param("a\x00b", "a\ufffdb", id="NUL"),
        pytest.param("half \ud83d of a pair", "half ? of a pair", id="half a surrogate pair"),
        pytest.param("x" * 1_000_000, "x" * 1_000_000, id="a megabyte"),
    ],
)
async def test_no_text_that_a_person_sends_is_refused(database: Database, written: str, read: str) -> None:
    ticket = {"id": "T-1", "tenant": "t", "request_id": "r", "language": "ja", "outcome": "escalated"}
    ticket |= {"reason": "unsure", "state": "open", "asker": written, "real_question": written}
    async with database.begin() as connection:
        await connection.execute(
            insert(tickets).values(
                **ticket, question=written, turns=[written], created_at=NOON, updated_at=NOON
            )
        )
    async with database.connect() as connection:
        row = (await connection.execute(select(tickets))).one()
    assert (row.asker, row.question) == (read, read)
    assert row.turns[0].replace("\x00", "\ufffd") == read


async def test_writers_wait_for_each_other_and_lose_no_update(database: Database) -> None:
    await put(database, "counter", 0)

    async def count() -> None:
        async with database.begin() as connection:
            row = select(settings.c.value).where(settings.c.name == "counter").with_for_update()
            now = (await connection.execute(row)).scalar_one()
            await connection.execute(update(settings).values(value=now + 1))

    await asyncio.gather(*(count() for _ in range(40)))
    assert await value(database, "counter") == 40


async def test_readers_do_not_wait_for_a_writer_and_see_only_what_was_committed(database: Database) -> None:
    async with database.begin() as connection:
        await connection.execute(insert(settings).values(name="soon", value=1, updated_at=NOON))
        async with asyncio.timeout(2):
            assert await names(database) == set()
    assert await names(database) == {"soon"}


async def test_more_readers_than_connections_all_get_their_turn(database: Database) -> None:
    await put(database, "one")
    assert await asyncio.gather(*(names(database) for _ in range(200))) == [{"one"}] * 200


async def test_a_result_longer_than_the_first_rows_is_whole(database: Database) -> None:
    rows = [{"name": f"{i:05}", "value": i, "updated_at": NOON} for i in range(1000)]
    async with database.begin() as connection:
        await connection.execute(insert(settings), rows)
    everything = select(settings.c.value).order_by(settings.c.name)
    async with database.connect() as connection:
        assert (await connection.execute(everything)).scalars().all() == list(range(1000))
        assert (await connection.execute(everything)).first() == (0,)
    async with database.begin() as connection:  # PostgreSQL streams within a transaction only
        streamed = await connection.stream(everything)
        assert [row.value async for row in streamed] == list(range(1000))


async def test_a_cancelled_question_leaves_the_store_usable(database: Database) -> None:
    async def write_slowly() -> None:
        async with database.begin() as connection:
            await connection.execute(insert(settings).values(name="cancelled", value=1, updated_at=NOON))
            await asyncio.sleep(10)

    for pause in (0.0, 0.001, 0.003, 0.01, 0.05):
        task = asyncio.create_task(write_slowly())
        await asyncio.sleep(pause)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with asyncio.timeout(5):
        await put(database, "after")
    assert await names(database) == {"after"}


async def test_purging_says_that_an_older_transaction_may_still_read_what_was_deleted(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "READERS_S", 0.3)
    name = await postgres.create_database()
    database = await Database.open(postgres.url(name))
    await put(database, "secret")
    reader = await asyncpg.connect(postgres.url(name))
    reading = reader.transaction(isolation="repeatable_read", readonly=True)
    await reading.start()
    await reader.fetch("SELECT * FROM settings")
    async with database.begin() as connection:
        await connection.execute(delete(settings))
    assert not await database.purge()
    assert await reader.fetchval("SELECT name FROM settings") == "secret"
    await reading.rollback()
    assert await database.purge()
    later = reader.transaction(isolation="repeatable_read", readonly=True)
    await later.start()  # idle in a transaction, and reads nothing
    assert await database.purge()
    await later.rollback()
    await reader.close()
    await database.close()
    await postgres.drop_database(name)


async def test_what_askers_wrote_is_nobody_elses_on_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    database = await Database.open(f"sqlite:///{folder / 'sekisho.db'}")
    await database.close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(("mode", "told"), [(0o755, True), (0o705, True), (0o750, False), (0o700, False)])
async def test_a_folder_that_was_there_before_and_is_open_to_all_is_told(
    tmp_path: Path, mode: int, told: bool
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    folder.chmod(mode)
    with capture_logs() as log:
        await (await Database.open(f"sqlite:///{folder / 'sekisho.db'}")).close()
    assert [line["mend"] for line in log] == ([f"chmod 700 {folder}"] if told else [])
    assert stat.S_IMODE(folder.stat().st_mode) == mode
