"""The people who answer are told what waits, in one message for all of it, and without a question's words."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from gateway.delivery.courier import Courier
from gateway.delivery.notices import AppriseSender, Notices, words
from gateway.delivery.outbox import Outbox
from gateway.errors import ConfigurationError
from gateway.review.tickets import Tickets
from gateway.settings.delivery import NoticeSettings
from storage.schema import deliveries
from storage.schema import tickets as table
from storage.sql import Database
from tests.gateway.running import settings
from tests.receiver import Receiver
from tests.review.asking import answer, question

# apprise reads all its services at the first address; that for mail asks for a module that Python will drop
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


def wanted(address: str = "json://127.0.0.1:1/x", **more: Any) -> NoticeSettings:
    return NoticeSettings(
        name="team",
        address=address,
        tenant="acme",
        events=["new", "overdue", "answered"],
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def notices(database: Database) -> Notices:
    return Notices(database, Outbox(database), [wanted()], promise_hours=24)


async def opened(database: Database, count: int, **more: Any) -> list[str]:
    tickets = Tickets(database)
    return [
        await tickets.open(question(**more), outcome="escalated", reason="gate_unsure", steps=())
        for _ in range(count)
    ]


async def bodies(database: Database) -> list[Any]:
    async with database.connect() as connection:
        query = select(deliveries.c.body).where(deliveries.c.event == "notice")
        return list(await connection.scalars(query.order_by(deliveries.c.created_at)))


async def later(database: Database, seconds: float = 301) -> None:
    """As if so much time had passed since the last message."""
    async with database.begin() as connection:
        for column in (deliveries.c.created_at, table.c.created_at):
            rows = (await connection.execute(select(column.table.c.id, column))).all()
            for id_, at in rows:
                moved = update(column.table).where(column.table.c.id == id_)
                await connection.execute(moved.values({column.name: at - timedelta(seconds=seconds)}))


async def test_many_tickets_are_one_message(database: Database, notices: Notices) -> None:
    ids = await opened(database, 100)
    assert await notices.look(wanted())
    [body] = await bodies(database)
    assert body == {"new": {"count": 100, "tickets": ids[:10]}}
    await opened(database, 50)
    assert not await notices.look(wanted()), "the next message waits"
    await later(database)
    assert await notices.look(wanted())
    assert (await bodies(database))[-1]["new"]["count"] == 50
    await later(database)
    assert not await notices.look(wanted()), "no news, no message"


async def test_a_message_from_a_clock_that_was_set_back_since_holds_up_no_other(
    database: Database, notices: Notices
) -> None:
    await opened(database, 1)
    assert await notices.look(wanted())
    async with database.begin() as connection:
        ahead = datetime.now(UTC) + timedelta(days=365)
        await connection.execute(update(deliveries).values(created_at=ahead))
    await opened(database, 1)
    assert await notices.look(wanted())


async def test_each_kind_is_told_of_once(database: Database, notices: Notices) -> None:
    [ticket] = await opened(database, 1)
    await notices.look(wanted())
    await later(database, 25 * 3600)
    assert await notices.look(wanted())
    await answer(Tickets(database), ticket)
    await later(database)
    assert await notices.look(wanted())
    told = [{what: news["tickets"] for what, news in body.items()} for body in await bodies(database)]
    assert told == [{"new": [ticket]}, {"overdue": [ticket]}, {"answered": [ticket]}]


async def test_another_tenant_s_tickets_are_no_news(database: Database, notices: Notices) -> None:
    await opened(database, 3, tenant="other")
    assert not await notices.look(wanted())


async def test_replicas_that_look_at_once_write_one_message(database: Database, notices: Notices) -> None:
    await opened(database, 5)
    assert sum(await asyncio.gather(*(notices.look(wanted()) for _ in range(4)))) == 1
    assert len(await bodies(database)) == 1


async def test_apprise_takes_it_to_the_service(database: Database, notices: Notices) -> None:
    [ticket] = await opened(database, 1)
    await notices.look(wanted())
    with Receiver() as receiver:
        sender = AppriseSender(wanted(f"json://127.0.0.1:{receiver.port}/team"), timeout_s=5)
        receiver.next(500)
        courier = Courier(Outbox(database), "team", sender)
        assert await courier.deliver_due() == 1
        async with database.begin() as connection:
            await connection.execute(update(deliveries).values(due_at=datetime.now(UTC)))
        assert await courier.deliver_due() == 1
        got = receiver.got[-1].json()
    assert (got["title"], got["message"]) == ("Sekisho: 1 new", f"1 new: {ticket}")
    assert "residence" not in str(got), "no question leaves the house"


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("en", "Sekisho: 12 new, 1 overdue"),
        ("ja", "Sekisho：新着 12 件、期限超過 1 件"),
        ("zh", "Sekisho：新工单 12 张，超时 1 张"),
    ],
)
def test_it_speaks_the_team_s_language(language: str, title: str) -> None:
    news = {"new": {"count": 12, "tickets": ["T-1"]}, "overdue": {"count": 1, "tickets": ["T-2"]}}
    assert words(news, language)[0] == title
    assert words(news, language)[1].splitlines()[0].endswith("T-1 …")


def test_an_address_that_nobody_knows_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError, match="team: address") as refused:
        AppriseSender(wanted("carrier-pigeon://secret-loft"), timeout_s=5)
    assert "loft" not in str(refused.value)


def test_an_address_comes_from_the_environment(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="from the environment only"):
        settings(tmp_path, "delivery: {notices: [{name: team, address: 'slack://a/b/c'}]}")
