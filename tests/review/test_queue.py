"""What waits is put together by meaning, ranked by frequency times severity, and filtered."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, update

from encoders.testing import HashingEncoder
from gateway.review.queue import Queue, Wish
from gateway.review.queue.bulk import each
from gateway.review.queue.waiting import waiting_ids
from gateway.review.tickets import Tickets
from storage.schema import tickets as table
from storage.sealing import MARK, Seal
from storage.sql import Database
from tests.review.asking import STEPS, closing_desk, dismiss, question

NOW = datetime.now(UTC)


class _Counting(Seal):
    """Counts what it opens."""

    opened = 0

    def open(self, stored: str) -> str:
        self.opened += stored.startswith(MARK)
        return super().open(stored)


@pytest.fixture
def tickets(database: Database) -> Tickets:
    return Tickets(database)


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database, HashingEncoder(), promise_hours=24)


async def _open(
    tickets: Tickets, text: str, *, reason: str = "nothing_relevant", language: str = "en"
) -> str:
    asked = replace(question(text), language=language)
    return await tickets.open(asked, outcome="escalated", reason=reason, steps=STEPS)


async def test_questions_in_almost_the_same_words_are_one_cluster(tickets: Tickets, queue: Queue) -> None:
    same = [await _open(tickets, f"How much is a passport for my child{end}") for end in ("", "?", "!")]
    other = await _open(tickets, "When is the swimming pool closed?")
    await queue.catch_up()
    view = await queue.view("acme", Wish())
    assert [{one.id for one in cluster.tickets} for cluster in view.clusters] == [set(same), {other}]
    assert view.total == 4


async def test_a_ticket_that_nobody_has_read_yet_stands_alone(tickets: Tickets, queue: Queue) -> None:
    for _ in range(2):
        await _open(tickets, "How much is a passport?")
    assert [len(one.tickets) for one in (await queue.view("acme", Wish())).clusters] == [1, 1]
    await queue.catch_up()
    assert [len(one.tickets) for one in (await queue.view("acme", Wish())).clusters] == [2]


async def test_the_texts_of_a_ticket_are_read_once(database_url: str) -> None:
    seal = _Counting(bytes(64))
    database = await Database.open(database_url, seal=seal)
    tickets, queue = Tickets(database), Queue(database, HashingEncoder(), promise_hours=24)
    for number in range(3):
        await _open(tickets, f"How much is a passport for {number} years?")
    await queue.catch_up()
    assert seal.opened
    seal.opened = 0
    await queue.catch_up()
    assert seal.opened == 0
    await _open(tickets, "When is the pool closed?")
    await queue.catch_up()
    assert seal.opened == 2  # its question, and its steps for the topic
    assert [len(one.tickets) for one in (await queue.view("acme", Wish())).clusters] == [3, 1]
    await database.close()


async def test_what_waits_is_read_from_an_index(tmp_path: Path) -> None:
    database = await Database.open(f"sqlite:///{tmp_path / 'x.db'}")
    statements: list[str] = []
    async with database.connect() as connection:
        event.listen(
            connection.sync_engine, "before_cursor_execute", lambda *args: statements.append(args[2])
        )
    await waiting_ids(database)
    await Tickets(database).count_open()
    assert len(statements) == 2
    async with database.connect() as connection:
        for statement in statements.copy():
            asked = f"EXPLAIN QUERY PLAN {statement}"
            plan = (
                await connection.exec_driver_sql(asked, ("open", "claimed", NOW)[: asked.count("?")])
            ).all()
            assert "COVERING INDEX" in str(plan), plan
    await database.close()


async def test_a_new_ticket_is_shown_before_it_is_read_when_all_others_are_gone(
    tickets: Tickets, queue: Queue
) -> None:
    gone = await _open(tickets, "How much is a passport?")
    await queue.catch_up()
    await queue.view("acme", Wish())
    await dismiss(tickets, gone, tenant="acme", by="Sato")
    await queue.catch_up()
    new = await _open(tickets, "Where is the swimming pool?")
    assert [one.first.id for one in (await queue.view("acme", Wish())).clusters] == [new]


async def test_one_grave_question_comes_before_two_slight_ones(tickets: Tickets, queue: Queue) -> None:
    for _ in range(2):
        await _open(tickets, "How much is a passport?", reason="review_due")
    grave = await _open(tickets, "Where is the swimming pool?", reason="source_changed")
    await queue.catch_up()
    view = await queue.view("acme", Wish())
    assert view.clusters[0].first.id == grave
    assert [one.rank for one in view.clusters] == [4, 2]


async def test_filters_see_what_they_ask_for(tickets: Tickets, queue: Queue, database: Database) -> None:
    late = await _open(tickets, "How much is a passport?")
    await _open(tickets, "Where is the pool?", reason="gate_unsure")
    japanese = await _open(tickets, "プールはどこですか", language="ja")
    mine = await _open(tickets, "When does the library open?")
    await tickets.claim(mine, tenant="acme", by="Sato")
    async with database.begin() as connection:
        await connection.execute(
            update(table).where(table.c.id == late).values(created_at=NOW - timedelta(hours=25))
        )
    await queue.catch_up()

    async def ids(wish: Wish) -> set[str]:
        return {one.id for cluster in (await queue.view("acme", wish)).clusters for one in cluster.tickets}

    assert await ids(Wish(overdue=True)) == {late}
    assert await ids(Wish(language="ja")) == {japanese}
    assert await ids(Wish(mine="Sato")) == {mine}
    assert len(await ids(Wish(reason="gate_unsure"))) == 1
    assert await ids(Wish(topic="no such document")) == set()
    assert await ids(Wish(states=("claimed",))) == {mine}


async def test_another_tenants_tickets_are_not_there(tickets: Tickets, queue: Queue) -> None:
    await _open(tickets, "How much is a passport?")
    await queue.catch_up()
    assert (await queue.view("globex", Wish())).clusters == ()


async def test_what_was_dismissed_is_listed_and_comes_back_when_that_is_taken_back(
    tickets: Tickets, queue: Queue, database: Database
) -> None:
    id_ = await _open(tickets, "How much is a passport?")
    await queue.catch_up()
    await dismiss(tickets, id_, tenant="acme", by="Sato")
    await queue.catch_up()
    assert (await queue.view("acme", Wish())).clusters == ()
    assert (await queue.view("acme", Wish(states=("dismissed",)))).clusters[0].first.id == id_
    await closing_desk(database, tickets).closing.take_back(id_, tenant="acme", by="Sato")
    await queue.catch_up()
    assert (await queue.view("acme", Wish())).total == 1


async def test_one_ticket_that_another_holds_keeps_nobody_else_back(tickets: Tickets) -> None:
    ids = [await _open(tickets, f"Question {number}?") for number in range(3)]
    await tickets.claim(ids[1], tenant="acme", by="Suzuki")
    done = await each([*ids, "T-00000000"], lambda id_: tickets.claim(id_, tenant="acme", by="Sato"))
    assert done.changed == (ids[0], ids[2])
    assert done.refused == (ids[1], "T-00000000")
