"""What askers wrote is sealed in the files, found all the same, and lost to nobody who has the key."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select, text, update

from storage.resealing import UnknownKeys, check_keys, reseal, sealed_columns
from storage.schema import outcomes, tickets
from storage.schema.base import holds
from storage.sealing import MARK, NotOpened, Seal, SealError
from storage.sql import Database

OLD, NEW = ("0a" * 64, "f7" * 64)
NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)
SECRET = "私の口座 4711 が凍結されました"
STEPS = [{"stage": "rag", "text": SECRET}]


def ticket(id_: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id_, "tenant": "default", "request_id": f"r-{id_}", "asker": "taro@example.jp",
        "language": "ja", "real_question": SECRET, "question": SECRET, "steps": STEPS, "turns": [],
        "outcome": "escalated", "reason": "gate_unsure", "state": "open", "revision": 1,
        "created_at": NOON, "updated_at": NOON, **more,
    }  # fmt: skip


async def opened(url: str, key: str | None = None, *former: str) -> Database:
    seal = Seal.of(key, former)
    database = await Database.open(url, seal=seal)
    try:
        await check_keys(database, seal)
    except UnknownKeys:
        await database.close()
        raise
    return database


async def stored(database: Database, column: str = "question") -> list[str]:
    """What stands in the files."""
    async with database.connect() as connection:
        return [
            str(one) for one in await connection.scalars(text(f"SELECT {column} FROM tickets ORDER BY id"))
        ]


async def questions(database: Database) -> list[tuple[str, Any, str]]:
    query = select(tickets.c.question, tickets.c.steps, tickets.c.asker).order_by(tickets.c.id)
    async with database.connect() as connection:
        return [tuple(row) for row in await connection.execute(query)]


async def put(database: Database, *rows: dict[str, Any]) -> None:
    async with database.begin() as connection:
        await connection.execute(insert(tickets), list(rows))


async def test_files_hold_no_word_and_equality_still_finds_it(database_url: str) -> None:
    database = await opened(database_url, OLD)
    await put(database, ticket("T-1"), ticket("T-2", asker=None, question="営業時間は？"))
    for column in ("question", "steps", "asker"):
        assert not any(
            word in one for one in await stored(database, column) for word in ("口座", "taro", "営業")
        )
    assert (await questions(database))[0] == (SECRET, STEPS, "taro@example.jp")
    async with database.connect() as connection:
        by_asker = select(tickets.c.id).where(tickets.c.asker == "taro@example.jp")
        nameless = select(tickets.c.id).where(tickets.c.asker.is_(None))
        assert await connection.scalar(by_asker) == "T-1"
        assert await connection.scalar(nameless) == "T-2"
    await database.close()


async def test_a_text_is_found_however_it_was_stored(database_url: str) -> None:
    for number, keys in enumerate([(), (OLD,), (NEW, OLD)]):
        database = await opened(database_url, *keys)
        await put(database, ticket(f"T-{number}"), ticket(f"T-{number}-other", asker="hanako@example.jp"))
        async with database.connect() as connection:
            same = holds(connection, tickets.c.asker, "taro@example.jp")
            found = await connection.scalars(select(tickets.c.id).where(same).order_by(tickets.c.id))
            assert found.all() == [f"T-{one}" for one in range(number + 1)]
        await database.close()


async def test_no_start_without_the_key(database_url: str) -> None:
    await (await opened(database_url, OLD)).close()
    with pytest.raises(UnknownKeys, match=r"storage\.encryption_key"):
        await opened(database_url)
    with pytest.raises(UnknownKeys, match="former"):
        await opened(database_url, NEW)


async def test_texts_from_before_are_sealed_by_resealing_and_keys_change(database_url: str) -> None:
    database = await opened(database_url)
    await put(database, *(ticket(f"T-{number:04}") for number in range(1_200)))
    await database.close()

    for keys in ((OLD,), (NEW, OLD)):
        database = await opened(database_url, *keys)
        before = await questions(database)
        told = {table: rows async for table, rows in reseal(database, _seal(*keys))}
        assert told["tickets"] == 1_200
        assert await questions(database) == before
        assert {one[: len(MARK) + 8] for one in await stored(database)} == {f"{MARK}{_seal(*keys).key}"}
        await database.close()

    database = await opened(database_url, NEW)  # the former key is needed no more
    assert len(await questions(database)) == 1_200
    await database.close()
    database = await opened(database_url, None, NEW)
    assert [rows async for _, rows in reseal(database, _seal(None, NEW))]
    assert set(await stored(database)) == {SECRET}
    await database.close()
    await (await opened(database_url)).close()


def _seal(key: str | None, *former: str) -> Seal:
    seal = Seal.of(key, former)
    assert seal
    return seal


async def test_a_changed_text_is_not_taken_for_another(database_url: str) -> None:
    database = await opened(database_url, OLD)
    await put(database, ticket("T-1"))
    [sealed] = await stored(database)
    changed = sealed[:-6] + ("AAAA" if sealed[-6:-2] != "AAAA" else "BBBB") + sealed[-2:]
    async with database.begin() as connection:
        await connection.execute(text("UPDATE tickets SET question = :changed"), {"changed": changed})
    with pytest.raises(NotOpened, match="changed"):
        await questions(database)
    await database.close()


async def test_what_an_asker_made_look_sealed_is_text(database_url: str) -> None:
    database = await opened(database_url)
    await put(database, ticket("T-1", question=f"{MARK}00000000:AAAA"))
    assert (await questions(database))[0][0] == "\ufffd" + f"{MARK}00000000:AAAA"[1:]
    await database.close()


async def test_what_is_written_later_is_sealed_too(tmp_path: Path) -> None:
    database = await opened(f"sqlite:///{tmp_path / 'x.db'}", OLD)
    await put(database, ticket("T-1"))
    async with database.begin() as connection:
        await connection.execute(update(tickets).values(answer="あなたの口座は使えます"))
        same = select(tickets.c.id).where(tickets.c.answer == "あなたの口座は使えます")
        assert await connection.scalar(same) == "T-1"
    await database.close()
    files = b"".join(file.read_bytes() for file in sorted(tmp_path.glob("*")))  # noqa: ASYNC240 - nothing waits
    assert "口座".encode() not in files
    assert b"taro" not in files


def test_every_table_with_texts_of_askers_is_known() -> None:
    assert {table.name for table in sealed_columns()} == {
        "answers", "audits", "deliveries", "draft_labels", "feedback", "gate_examples", "outcomes",
        "suggestions", "ticket_events", "tickets",
    }  # fmt: skip
    assert outcomes.c.question in sealed_columns()[outcomes]


@given(st.text())
def test_sealing_and_opening_gives_the_text(words: str) -> None:
    words = words.encode("utf-8", "replace").decode()
    seal = _seal(OLD)
    assert seal.open(seal.seal(words)) == words
    assert seal.seal(words) == seal.seal(words)


@pytest.mark.parametrize("key", ["", "secret", "0a" * 63, "zz" * 64])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    assert Seal.of(None) is None
    with pytest.raises(SealError, match="128 hexadecimal digits"):
        Seal.of(key)


async def test_gateways_that_start_together_with_a_new_key_all_start(database_url: str) -> None:
    seal = Seal.of(NEW)
    async with AsyncExitStack() as stack:
        replicas = [await Database.open(database_url, seal=seal) for _ in range(4)]
        for one in replicas:
            stack.push_async_callback(one.close)
        await asyncio.gather(*(check_keys(one, seal) for one in replicas))
        await check_keys(replicas[0], seal)
