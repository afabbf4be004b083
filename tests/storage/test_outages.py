"""A store that is out says where, what and what to do; and never a password or a person's text."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from storage import sql, sqlite
from storage.migrations import ADVISORY_LOCK
from storage.schema import settings
from storage.sql import Database, DatabaseUnavailable
from tests.postgres import PostgresServer

NOW = datetime(2026, 4, 1, tzinfo=UTC)


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o500)
    yield folder
    folder.chmod(0o700)


async def refused(url: str) -> str:
    with pytest.raises(DatabaseUnavailable) as caught:
        await Database.open(url)
    return str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="nothing"),
        pytest.param("sekisho.db", id="a path"),
        pytest.param("sqlite://", id="in memory"),
        pytest.param("sqlite:///:memory:", id="in memory by name"),
        pytest.param("sqlite:///file:x?mode=memory&uri=true", id="in memory by address"),
        pytest.param("mysql://user:hunter2@db/sekisho", id="another database"),
        pytest.param("postgresql+psycopg://user:hunter2@db/sekisho", id="another driver"),
    ],
)
async def test_an_address_that_cannot_be_used_says_what_is_expected(url: str) -> None:
    message = await refused(url)
    assert "expected sqlite:///path/to/sekisho.db or postgresql://" in message
    assert "hunter2" not in message


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "sekisho.db"
    file.write_bytes(b"these are not the rows you are looking for" * 100)
    message = await refused(f"sqlite:///{file}")
    assert str(file) in message
    assert "not a database" in message


async def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    message = await refused(f"sqlite:///{tmp_path}")
    assert f"SQLite file {tmp_path} cannot be used: unable to open" in message


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = await refused(f"sqlite:///{tmp_path / 'file' / 'store' / 'sekisho.db'}")
    assert str(tmp_path / "file" / "store") in message
    assert "let this user write there" in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_may_not_be_written_is_named(read_only_folder: Path) -> None:
    message = await refused(f"sqlite:///{read_only_folder / 'sekisho.db'}")
    assert str(read_only_folder / "sekisho.db") in message
    assert "this user may write there" in message


async def test_a_damaged_file_is_refused_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "sekisho.db"
    database = await Database.open(f"sqlite:///{file}")
    async with database.begin() as connection:
        rows = [{"name": f"n{i}", "value": "x" * 500, "updated_at": NOW} for i in range(500)]
        await connection.execute(insert(settings), rows)
    await database.close()
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 16384] = os.urandom(16384)
    file.write_bytes(content)
    message = await refused(f"sqlite:///{file}")
    assert str(file) in message
    assert "estore it from a backup" in message


async def test_a_writer_of_another_process_is_waited_for_then_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.sql.BUSY_TIMEOUT_S", 0.2)
    file = tmp_path / "sekisho.db"
    database = await Database.open(f"sqlite:///{file}")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def write() -> None:
        async with database.begin():
            pass

    with pytest.raises(DatabaseUnavailable, match="Another process holds the write lock"):
        await write()
    async with database.connect() as connection:
        assert (await connection.execute(select(settings))).all() == []
    other.execute("ROLLBACK")
    other.close()
    await write()
    await database.close()


async def test_sqlite_is_set_up_for_truth(tmp_path: Path) -> None:
    database = await Database.open(f"sqlite:///{tmp_path / 'sekisho.db'}")
    pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    async with database.begin() as connection:
        found = [(await connection.execute(text(f"PRAGMA {pragma}"))).scalar_one() for pragma in pragmas]
    await database.close()
    assert found == ["wal", 2, 1, 10_000]  # synchronous 2 is FULL


async def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    """SQLite lets none of them wait for another: of a hundred such files some three were refused to one."""

    async def opened(file: Path) -> str:
        connection = await sqlite.connect(
            str(file), patience_s=10, pragmas=["PRAGMA journal_mode=WAL"], check_same_thread=False
        )
        async with connection.execute("PRAGMA journal_mode") as cursor:
            (mode,) = await cursor.fetchone() or ("",)
        await connection.close()
        return str(mode)

    for number in range(60):
        modes = await asyncio.gather(*(opened(tmp_path / f"{number}.db") for _ in range(6)))
        assert modes == ["wal"] * 6


async def test_a_write_on_a_reading_connection_is_refused(tmp_path: Path) -> None:
    database = await Database.open(f"sqlite:///{tmp_path / 'sekisho.db'}")

    async def write() -> None:
        async with database.connect() as connection:
            await connection.execute(insert(settings).values(name="x", value=1, updated_at=NOW))

    with pytest.raises(DatabaseUnavailable, match="readonly"):
        await write()
    await database.close()


async def test_a_server_that_is_not_there_is_named_without_the_password(unused_tcp_port: int) -> None:
    message = await refused(f"postgresql://user:hunter2@127.0.0.1:{unused_tcp_port}/sekisho")
    assert f"PostgreSQL at 127.0.0.1:{unused_tcp_port}, database sekisho" in message
    assert "Check that the server runs" in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("user", "name", "advice"),
    [
        pytest.param("postgres", "missing", "Create the database", id="no such database"),
        pytest.param("stranger", "postgres", "Check user and password", id="no such user"),
    ],
)
async def test_a_server_that_turns_us_away_says_what_to_do(
    postgres: PostgresServer, user: str, name: str, advice: str
) -> None:
    message = await refused(f"postgresql://{user}:hunter2@/{name}?host={postgres.folder}")
    assert advice in message
    assert "hunter2" not in message


@pytest.mark.parametrize("option", ["sslmode=disable", "ssl=disable"])
async def test_options_of_libpq_are_understood(postgres: PostgresServer, option: str) -> None:
    name = await postgres.create_database()
    await (await Database.open(f"{postgres.url(name)}&{option}")).close()
    await postgres.drop_database(name)


async def test_an_option_that_no_driver_knows_is_reported(postgres: PostgresServer) -> None:
    assert "frobnicate" in await refused(f"{postgres.url('postgres')}&frobnicate=1")


async def test_lost_sessions_are_reported_once_and_then_replaced(postgres: PostgresServer) -> None:
    name = await postgres.create_database()
    database = await Database.open(postgres.url(name))
    killing = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"

    async def lose_a_transaction() -> None:
        async with database.begin() as connection:
            await connection.execute(select(settings))
            await postgres.execute(killing)
            await connection.execute(select(settings))

    with pytest.raises(DatabaseUnavailable):
        await lose_a_transaction()
    async with database.begin() as connection:
        await connection.execute(select(settings))
    await postgres.execute(killing)
    async with database.connect() as connection:  # idle in the pool, found out by its ping
        assert (await connection.execute(select(settings))).all() == []
    await database.close()
    await postgres.drop_database(name)


async def test_an_upgrade_may_take_longer_than_a_question_waits(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another replica that migrates stands for a large table here: either holds one statement up."""
    monkeypatch.setattr(sql, "STATEMENT_TIMEOUT_S", 0.2)
    name = await postgres.create_database()
    other = await asyncpg.connect(postgres.url(name))
    await other.execute(f"SELECT pg_advisory_lock({ADVISORY_LOCK})")
    opening = asyncio.create_task(Database.open(postgres.url(name)))
    await asyncio.wait({opening}, timeout=10 * sql.STATEMENT_TIMEOUT_S)
    assert not opening.done()
    await other.close()
    database = await opening
    await database.purge()
    with pytest.raises(DatabaseUnavailable):
        async with database.connect() as connection:  # whoever serves a question is told in time
            await connection.execute(text("SELECT pg_sleep(60)"))
    await database.close()
    await postgres.drop_database(name)


async def test_a_server_that_took_no_changes_for_a_while_takes_them_again(postgres: PostgresServer) -> None:
    name = await postgres.create_database()
    read_only = f'ALTER DATABASE "{name}" SET default_transaction_read_only = '
    database = await Database.open(postgres.url(name))
    statement = insert(settings).values(name="kept", value={}, updated_at=NOW)
    await postgres.execute(f"{read_only} on")
    await postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    with pytest.raises(DatabaseUnavailable, match="read-only"):
        async with database.begin() as connection:
            await connection.execute(statement)
    await postgres.execute(f"{read_only} off")
    async with database.begin() as connection:
        await connection.execute(statement)
    await database.close()
    await postgres.drop_database(name)


async def test_errors_do_not_repeat_what_people_wrote(database: Database) -> None:
    async def put() -> None:
        async with database.begin() as connection:
            await connection.execute(insert(settings).values(name="x", value="my secret", updated_at=NOW))

    await put()
    with pytest.raises(IntegrityError) as caught:
        await put()
    assert "my secret" not in str(caught.value)


async def test_the_address_is_shown_without_its_password(postgres: PostgresServer) -> None:
    name = await postgres.create_database()
    database = await Database.open(postgres.url(name).replace("postgres@", "postgres:hunter2@"))
    assert "hunter2" not in database.url
    await database.close()
    await postgres.drop_database(name)


WRITER = """
import asyncio, sys
from datetime import UTC, datetime
from sqlalchemy import insert
from storage import sql
from storage.migrations import ADVISORY_LOCK
from storage.schema import settings
from storage.sql import Database

async def main():
    database = await Database.open(sys.argv[1])
    for i in range(100_000):
        async with database.begin() as connection:
            row = {"name": str(i), "value": i, "updated_at": datetime.now(UTC)}
            await connection.execute(insert(settings).values(row))
        print(i, flush=True)

asyncio.run(main())
"""


def acknowledged_before_a_kill(url: str) -> set[int]:
    with subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = {int(process.stdout.readline()) for _ in range(50)}
        process.send_signal(signal.SIGKILL)
        return first | {int(line) for line in process.stdout.read().split()}


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'sekisho.db'}"
    acknowledged = await asyncio.to_thread(acknowledged_before_a_kill, url)
    database = await Database.open(url)
    async with database.connect() as connection:
        found = set((await connection.execute(select(settings.c.value))).scalars())
    await database.close()
    assert acknowledged <= found
