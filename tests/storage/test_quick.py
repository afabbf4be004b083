"""What an asker waits for ends soon, whatever the database does; what others wait for may take its time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path

import circuitbreaker
import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from storage import circuit, quick
from storage.circuit import Circuit
from storage.schema import settings
from storage.sql import Database, DatabaseUnavailable
from tests.dead_link import DeadLink
from tests.postgres import PostgresServer
from tests.storage.test_sql import NOON

SHORT_S = 0.5


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "READING_S", SHORT_S)
    monkeypatch.setattr(quick, "WRITING_S", SHORT_S)


@pytest.fixture
def _as_long_as_it_takes(_short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "READING_S", 60)
    monkeypatch.setattr(quick, "WRITING_S", 60)


@pytest.fixture
def link(postgres: PostgresServer) -> Iterator[DeadLink]:
    with DeadLink(f"{postgres.folder}/.s.PGSQL.5432") as opened:
        yield opened


@pytest.fixture
async def behind(link: DeadLink, postgres: PostgresServer) -> AsyncIterator[Database]:
    """PostgreSQL behind a link that can go dead."""
    name = await postgres.create_database()
    database = await Database.open(f"postgresql://postgres@127.0.0.1:{link.port}/{name}")
    yield database
    link.revive()
    await database.close()
    await postgres.drop_database(name)


async def reads(database: Database) -> None:
    async with database.quick.connect() as connection:
        await connection.execute(select(settings))


async def writes(database: Database, name: str) -> None:
    async with database.quick.begin() as connection:
        await connection.execute(insert(settings).values(name=name, value=1, updated_at=NOON))


async def test_a_server_that_hangs_is_left_alone_after_the_first_have_waited(
    behind: Database, link: DeadLink
) -> None:
    await reads(behind)
    link.die()
    many = await asyncio.gather(*(reads(behind) for _ in range(3 * quick.READERS)), return_exceptions=True)
    assert {type(one) for one in many} == {DatabaseUnavailable}
    link.revive()
    with pytest.raises(DatabaseUnavailable, match="left alone"):  # though it would answer by now
        await reads(behind)


async def test_a_server_that_answers_again_is_used_again(
    link: DeadLink, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "FIRST_REST_S", 0.01)
    name = await postgres.create_database()
    database = await Database.open(f"postgresql://postgres@127.0.0.1:{link.port}/{name}")
    link.die()
    with pytest.raises(DatabaseUnavailable):
        await writes(database, "lost")
    link.revive()
    await asyncio.sleep(0.02)
    await writes(database, "kept")
    await reads(database)
    await database.close()
    await postgres.drop_database(name)


async def test_a_page_waits_for_longer_than_an_asker(behind: Database) -> None:
    slow = text(f"SELECT pg_sleep({2 * SHORT_S})")
    async with behind.connect() as connection:
        await connection.execute(slow)
    with pytest.raises(DatabaseUnavailable):
        async with behind.quick.connect() as connection:
            await connection.execute(slow)


async def test_reading_goes_on_while_another_process_holds_the_lock_for_writing(tmp_path: Path) -> None:
    file = tmp_path / "sekisho.db"
    database = await Database.open(f"sqlite:///{file}")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailable, match="no answer"):
            await writes(database, "held up")
        with pytest.raises(DatabaseUnavailable, match="left alone"):
            await writes(database, "refused")
        await reads(database)
        waiting = asyncio.create_task(kept(database, "import"))
        await asyncio.sleep(2 * SHORT_S)
        other.execute("COMMIT")
    await waiting
    async with database.connect() as connection:
        assert (await connection.scalars(select(settings.c.name))).all() == ["import"]
    await database.close()


async def kept(database: Database, name: str) -> None:
    async with database.begin() as connection:
        await connection.execute(insert(settings).values(name=name, value=1, updated_at=NOON))


@pytest.mark.usefixtures("_as_long_as_it_takes")
async def test_more_askers_than_connections_all_get_their_turn(database: Database) -> None:
    await asyncio.gather(*(reads(database) for _ in range(20 * quick.READERS)))
    await asyncio.gather(*(writes(database, str(number)) for number in range(10 * quick.WRITERS)))


async def test_an_asker_who_leaves_says_nothing_of_the_database(behind: Database, link: DeadLink) -> None:
    link.die()
    leaving = asyncio.create_task(reads(behind))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    link.revive()
    await reads(behind)


async def test_an_error_is_an_answer(database: Database) -> None:
    await writes(database, "taken")
    with pytest.raises(IntegrityError):
        await writes(database, "taken")
    await writes(database, "free")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that circuits read, to be set."""
    shown = [0.0]
    for module in (circuit, circuitbreaker):
        monkeypatch.setattr(module, "monotonic", lambda: shown[0])
    return shown


def may_try(breaker: Circuit) -> bool:
    with breaker.trying() as may:
        return may


def fail(breaker: Circuit) -> None:
    with pytest.raises(OSError, match="gone"), breaker:
        raise OSError("gone")


def test_what_stalls_once_is_tried_again_soon_and_what_goes_on_hanging_later(clock: list[float]) -> None:
    breaker = Circuit(failure_threshold=1, first_rest_s=1, recovery_timeout=5)
    for _ in range(2):
        fail(breaker)
        clock[0] += 1.1
        assert may_try(breaker)
        fail(breaker)
        clock[0] += 1.1
        assert not may_try(breaker)
        clock[0] += 4.0
        assert may_try(breaker)
        with breaker:
            pass  # it answers


def test_while_one_tries_the_others_are_told_at_once(clock: list[float]) -> None:
    breaker = Circuit(failure_threshold=1, first_rest_s=1, recovery_timeout=5)
    fail(breaker)
    clock[0] = 1.1
    assert may_try(breaker)
    clock[0] = 3.1  # it takes longer than the first rest
    assert not may_try(breaker)


def give_up(breaker: Circuit, meanwhile: Callable[[Circuit], object]) -> None:
    with breaker.trying() as may:
        assert may
        meanwhile(breaker)
        raise asyncio.CancelledError


def test_a_try_that_was_cancelled_is_the_next_ones(clock: list[float]) -> None:
    breaker = Circuit(failure_threshold=1, first_rest_s=1, recovery_timeout=5)
    fail(breaker)
    clock[0] = 1.1
    for _ in range(2):
        with pytest.raises(asyncio.CancelledError):
            give_up(breaker, lambda tried: not may_try(tried) or pytest.fail("two tried"))
    with breaker.trying() as may:
        assert may
        fail(breaker)
    assert not may_try(breaker)


def test_a_cancelled_try_says_nothing_where_another_has_failed_since(clock: list[float]) -> None:
    breaker = Circuit(failure_threshold=1, recovery_timeout=5)
    fail(breaker)
    clock[0] = 6.0

    def meanwhile(tried: Circuit) -> None:
        clock[0] = 7.0
        fail(tried)

    with pytest.raises(asyncio.CancelledError):
        give_up(breaker, meanwhile)
    clock[0] = 11.5
    assert not may_try(breaker)


def test_when_the_rest_is_over_one_tries_for_all(clock: list[float]) -> None:
    breaker = Circuit(failure_threshold=1, recovery_timeout=5)
    fail(breaker)
    assert not may_try(breaker)
    clock[0] = 6.0
    assert [may_try(breaker), may_try(breaker)] == [True, False]
    clock[0] = 12.0  # nothing was heard of that try
    assert [may_try(breaker), may_try(breaker)] == [True, False]
    with breaker:
        pass
    assert [may_try(breaker), may_try(breaker)] == [True, True]
