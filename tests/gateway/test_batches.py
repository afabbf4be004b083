"""Statistics wait for their store, and one that can't be written does not stop the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from gateway.recording import batches
from gateway.recording.batches import Batches
from gateway.recording.outcomes import OutcomeLog, OutcomeRow
from storage import quick
from storage.quick import Quick
from storage.schema import outcomes
from storage.sql import Database, DatabaseUnavailable
from tests.postgres import PostgresServer


def row(outcome: str | None) -> OutcomeRow:
    return OutcomeRow(
        tenant="default", request_id="r", question_hash="h", question=None, language="en",
        outcome=outcome,  # type: ignore[arg-type]
        reason="x", tier=None, entry_id=None, ticket_id=None, faithfulness=None, unchecked=False,
        gate_score=None, stage_ms={}, ms=1.0,
    )  # fmt: skip


async def written(database: Database) -> list[str]:
    async with database.connect() as connection:
        return list(await connection.scalars(select(outcomes.c.outcome)))


async def test_what_waits_is_written_when_the_gateway_stops(database: Database) -> None:
    log = OutcomeLog(database, on_lost=pytest.fail)
    work = asyncio.create_task(log.run())
    await asyncio.sleep(0)
    log.add(row("rag"))
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    assert await written(database) == ["rag"]


async def test_rows_in_their_commit_when_the_gateway_stops_are_not_written_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "INTERVAL_S", 0)
    kept: list[int] = []
    committed, answered = asyncio.Event(), asyncio.Event()

    async def write(rows: Sequence[int]) -> None:
        kept.extend(rows)
        committed.set()
        await answered.wait()  # the database's word that it has them is still on its way

    log = Batches("numbers", write, on_lost=pytest.fail)
    log.add(1)
    work = asyncio.create_task(log.run())
    await committed.wait()
    work.cancel()
    await asyncio.sleep(0)
    answered.set()
    with suppress(asyncio.CancelledError):
        await work
    assert kept == [1]


async def test_whoever_leaves_while_rows_are_written_has_none_written_twice() -> None:
    kept: list[int] = []
    committed, answered = asyncio.Event(), asyncio.Event()

    async def write(rows: Sequence[int]) -> None:
        kept.extend(rows)
        committed.set()
        await answered.wait()

    log = Batches("numbers", write, on_lost=pytest.fail)
    log.add(1)
    asking = asyncio.create_task(log.flush())
    await committed.wait()
    asking.cancel()
    await asyncio.sleep(0)
    answered.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await log.flush()
    assert kept == [1]


@pytest.mark.parametrize("under_way", [True, False], ids=["while rows are written", "while none are"])
async def test_what_a_dead_database_does_not_take_at_the_end_is_counted(
    under_way: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "INTERVAL_S", 0 if under_way else 60)
    lost: list[int] = []
    asked, answered = asyncio.Event(), asyncio.Event()

    async def write(rows: Sequence[int]) -> NoReturn:
        asked.set()
        await answered.wait()
        raise DatabaseUnavailable("away")

    log = Batches("numbers", write, on_lost=lost.append)
    log.add(1)
    log.add(2)
    with capture_logs() as said:
        work = asyncio.create_task(log.run())
        await (asked.wait() if under_way else asyncio.sleep(0))
        work.cancel()
        await asyncio.sleep(0)
        answered.set()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert lost == [2]
    assert said[-1] == {
        "event": "rows lost", "of": "numbers", "rows": 2, "error": "away", "log_level": "error"
    }  # fmt: skip


async def test_rows_that_sql_refuses_are_counted_and_the_next_ones_written(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "INTERVAL_S", 0.01)
    lost: list[int] = []
    told = asyncio.Event()

    def on_lost(rows: int) -> None:
        lost.append(rows)
        told.set()

    log = OutcomeLog(database, on_lost=on_lost)
    log.add(row(None))  # no outcome has no name
    work = asyncio.create_task(log.run())
    async with asyncio.timeout(30):
        await told.wait()
    log.add(row("refused"))
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    assert (lost, await written(database)) == ([1], ["refused"])


async def test_one_refused_row_takes_no_other_of_its_batch_along(database: Database) -> None:
    lost: list[int] = []
    log = OutcomeLog(database, on_lost=lost.append)
    for outcome in ("rag", None, "refused"):
        log.add(row(outcome))
    await log.flush()  # nor does it break the flush of whoever reads his own rows
    log.add(row("withheld"))
    await log.flush()
    assert (lost, await written(database)) == ([1], ["rag", "refused", "withheld"])


async def test_a_row_that_breaks_what_writes_it_takes_no_other_along() -> None:
    lost: list[int] = []
    kept: list[str] = []

    async def write(rows: Sequence[dict[str, str]]) -> None:
        kept.extend([row["stage"] for row in rows])

    log = Batches("steps", write, on_lost=lost.append)
    for row in ({"stage": "gate"}, {"type": "source_change"}, {"stage": "cache"}):
        log.add(row)
    await log.flush()
    assert (lost, kept) == ([1], ["gate", "cache"])


async def test_rows_whose_commit_was_not_heard_of_are_written_once(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the server waits for a standby that is gone; a link that dies just then does the same."""
    monkeypatch.setattr(quick, "WRITING_S", 0.5)
    monkeypatch.setattr(quick, "FIRST_REST_S", 0.01)
    name = await postgres.create_database()
    await postgres.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = local')
    database = await Database.open(postgres.url(name))
    log = OutcomeLog(database, on_lost=pytest.fail)
    log.add(row("rag"))
    log.add(row("refused"))
    await postgres.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = on')
    await standby(postgres, "nobody")
    with pytest.raises(DatabaseUnavailable):
        await log.flush()
    await standby(postgres, "")
    assert sorted(await written(database)) == ["rag", "refused"]
    log.add(row("escalated"))
    await asyncio.sleep(0.02)
    await log.flush()
    assert sorted(await written(database)) == ["escalated", "rag", "refused"]
    await database.close()
    await postgres.drop_database(name)


async def standby(postgres: PostgresServer, name: str) -> None:
    await postgres.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
    await postgres.execute("SELECT pg_reload_conf()")


async def test_rows_that_were_not_written_are_written_when_the_database_is_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = OutcomeLog(database, on_lost=pytest.fail)
    log.add(row("rag"))
    with monkeypatch.context() as away:
        away.setattr(Quick, "begin", gone)
        with pytest.raises(DatabaseUnavailable):
            await log.flush()
    await log.flush()
    assert await written(database) == ["rag"]


async def test_a_row_by_itself_whose_commit_was_not_heard_of_is_written_once() -> None:
    kept: list[int] = []

    async def write(rows: Sequence[int]) -> None:
        if 0 in rows:
            raise IntegrityError("0", None, Exception("refused"))
        kept.extend(rows)
        if kept == [1]:
            raise DatabaseUnavailable("away, right after the commit")

    async def is_written(row: int) -> bool:
        return row in kept

    log = Batches("numbers", write, on_lost=lambda rows: None, is_written=is_written)
    for number in (1, 0, 2):
        log.add(number)
    with pytest.raises(DatabaseUnavailable):
        await log.flush()
    await log.flush()
    assert kept == [1, 2]


def gone(door: Quick) -> NoReturn:
    raise DatabaseUnavailable("away")


async def test_two_who_flush_at_once_write_each_row_once(database: Database) -> None:
    log = OutcomeLog(database, on_lost=pytest.fail)
    for _ in range(batches.BATCH + 1):
        log.add(row("rag"))
    await asyncio.gather(log.flush(), log.flush())
    assert len(await written(database)) == batches.BATCH + 1


async def test_an_outage_is_told_when_it_begins_each_minute_and_when_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "INTERVAL_S", 0)
    now, away = 0.0, True
    monkeypatch.setattr(batches, "monotonic", lambda: now)
    tried = asyncio.Event()

    async def write(rows: Sequence[int]) -> None:
        tried.set()
        if away:
            raise DatabaseUnavailable("away")

    async def some_tries() -> None:
        for _ in range(5):
            tried.clear()
            await tried.wait()

    log = Batches("numbers", write, on_lost=pytest.fail)
    with capture_logs() as logged:
        work = asyncio.create_task(log.run())
        log.add(1)
        await some_tries()
        now += batches.TOLD_AGAIN_S - 1
        await some_tries()
        assert [one["event"] for one in logged] == ["rows wait"]
        now += 1
        await some_tries()
        away = False
        tried.clear()
        await tried.wait()
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
    waits = {"log_level": "warning", "event": "rows wait", "of": "numbers", "rows": 1, "error": "away"}
    assert logged == [waits, waits, {"log_level": "info", "event": "rows are written again", "of": "numbers"}]
