"""Statistics wait for their store, and one that can't be written does not stop the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest
from sqlalchemy import select

from gateway.recording import batches
from gateway.recording.batches import Batches
from gateway.recording.outcomes import OutcomeLog, OutcomeRow
from storage.schema import outcomes
from storage.sql import Database


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


async def test_two_who_flush_at_once_write_each_row_once(database: Database) -> None:
    log = OutcomeLog(database, on_lost=pytest.fail)
    for _ in range(batches.BATCH + 1):
        log.add(row("rag"))
    await asyncio.gather(log.flush(), log.flush())
    assert len(await written(database)) == batches.BATCH + 1
