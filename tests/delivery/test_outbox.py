"""What has to reach somebody outside does, once if all goes well and never less, whatever dies in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, update
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError
from structlog.testing import capture_logs

from gateway.delivery.courier import Courier, NotDelivered, Undeliverable
from gateway.delivery.outbox import AFTER_S, Delivery, Outbox, Receiver
from gateway.delivery.webhooks import WebhookSender
from gateway.errors import Conflict, NotFound
from gateway.review.tickets import Tickets
from storage.schema import deliveries as table
from storage.sql import Database
from tests.receiver import Receiver as Played
from tests.review.asking import answer, dismiss, question

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NEXT_SECRET = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
HELPDESK = Receiver("helpdesk", "acme", frozenset({"answered"}))


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database, [HELPDESK, Receiver("elsewhere", "other", frozenset({"answered", "dismissed"}))])


@pytest.fixture
def tickets(database: Database, outbox: Outbox) -> Tickets:
    return Tickets(database, announcing=outbox)


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def courier(database: Database, outbox: Outbox, http: httpx2.AsyncClient) -> Callable[[Played], Courier]:
    def to(played: Played) -> Courier:
        return Courier(outbox, "helpdesk", WebhookSender(http, database, url=played.url, secrets=[SECRET]))

    return to


async def answered(tickets: Tickets, text: str = "How much is a residence card?") -> str:
    ticket = await tickets.open(question(text), outcome="escalated", reason="nothing_relevant", steps=())
    await answer(tickets, ticket, tenant="acme", by="Sato", answer="300 yen.")
    return ticket


async def all_of(database: Database) -> list[Any]:
    async with database.connect() as connection:
        return list((await connection.execute(select(table).order_by(table.c.created_at))).mappings())


async def make_due(database: Database) -> None:
    async with database.begin() as connection:
        await connection.execute(update(table).values(due_at=datetime.now(UTC) - timedelta(seconds=1)))


async def test_the_asker_s_side_gets_the_answer_signed(
    tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    with Played() as played:
        ticket = await answered(tickets)
        assert await courier(played).deliver_due() == 1
        [got] = played.got
    told = Webhook(SECRET).verify(got.body, dict(got.headers))
    assert told["type"] == "ticket.answered"
    data = told["data"]
    assert (data["ticket"], data["answer"], data["asker"]) == (ticket, "300 yen.", "u-1")
    assert "claimed_by" not in data, "no reviewer's name goes out"
    assert "steps" not in data
    with pytest.raises(WebhookVerificationError):
        Webhook(NEXT_SECRET).verify(got.body, dict(got.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(got.body.replace(b"300", b"900"), dict(got.headers))


async def test_what_a_clock_that_ran_ahead_put_off_is_delivered_once_it_is_set_back(
    database: Database, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    await answered(tickets)
    for hence, delivered in ((timedelta(hours=24), 0), (timedelta(days=365), 1)):
        async with database.begin() as connection:
            await connection.execute(update(table).values(due_at=datetime.now(UTC) + hence))
        with Played() as played:
            assert await courier(played).deliver_due() == delivered


async def test_two_secrets_sign_while_a_receiver_changes(
    database: Database, outbox: Outbox, tickets: Tickets, http: httpx2.AsyncClient
) -> None:
    await answered(tickets)
    with Played() as played:
        sender = WebhookSender(http, database, url=played.url, secrets=[NEXT_SECRET, SECRET])
        await Courier(outbox, "helpdesk", sender).deliver_due()
        for secret in (SECRET, NEXT_SECRET):
            Webhook(secret).verify(played.got[0].body, dict(played.got[0].headers))


async def test_only_whom_it_concerns_is_told(database: Database, tickets: Tickets) -> None:
    ticket = await tickets.open(question(), outcome="escalated", reason="r", steps=())
    await dismiss(tickets, ticket, tenant="acme", by="Sato")
    foreign = await tickets.open(question(tenant="other"), outcome="escalated", reason="r", steps=())
    await dismiss(tickets, foreign, tenant="other", by="Sato")
    rows = [(row["target"], row["event"], row["ticket_id"]) for row in await all_of(database)]
    assert rows == [("elsewhere", "ticket.dismissed", foreign)]


async def test_the_same_answer_again_is_not_sent_again(database: Database, tickets: Tickets) -> None:
    ticket = await answered(tickets)
    await answer(tickets, ticket, tenant="acme", by="Sato", answer="300 yen.")
    assert len(await all_of(database)) == 1


async def test_an_answer_that_is_not_kept_is_not_announced(
    database: Database, tickets: Tickets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row and the answer are one transaction: if one can't be written, neither is."""
    ticket = await tickets.open(question(), outcome="escalated", reason="r", steps=())

    async def breaks(*_: object) -> None:
        raise RuntimeError("out of paper")

    monkeypatch.setattr(tickets, "_announcing", type("Breaks", (), {"put": breaks})())
    with pytest.raises(RuntimeError):
        await answer(tickets, ticket, tenant="acme", by="Sato", answer="300 yen.")
    assert (await tickets.get(ticket, tenant="acme")).state == "open"
    assert await all_of(database) == []


async def test_it_is_tried_again_later_under_the_same_id(
    database: Database, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    await answered(tickets)
    with Played() as played:
        played.next(503, 302, headers={"location": "http://127.0.0.1:1/elsewhere"})
        assert await courier(played).deliver_due() == 1
        assert await courier(played).deliver_due() == 0, "not before it is due"
        [row] = await all_of(database)
        assert (row["state"], row["attempts"], row["error"]) == ("waiting", 1, "HTTP 503")
        await make_due(database)
        await courier(played).deliver_due()
        [row] = await all_of(database)
        assert row["error"] == "HTTP 302", "a redirect is not followed"
        wait_s = (row["due_at"] - datetime.now(UTC)).total_seconds()
        assert 0.75 * AFTER_S[1] < wait_s < 1.25 * AFTER_S[1]
        await make_due(database)
        await courier(played).deliver_due()
        [row] = await all_of(database)
        assert (row["state"], row["error"]) == ("sent", "")
        assert len({got.headers["webhook-id"] for got in played.got}) == 1
        assert len(played.got) == 3


async def test_a_receiver_may_ask_for_time(
    database: Database, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    await answered(tickets)
    with Played() as played:
        played.next(429, headers={"retry-after": "600"})
        await courier(played).deliver_due()
    [row] = await all_of(database)
    assert 590 < (row["due_at"] - datetime.now(UTC)).total_seconds() < 610


async def test_a_dead_letter_is_seen_and_can_be_sent_again(
    database: Database, outbox: Outbox, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    ticket = await answered(tickets)
    with Played() as played:
        played.next(*[500] * (len(AFTER_S) + 1))
        for _ in range(len(AFTER_S) + 1):
            await make_due(database)
            assert await courier(played).deliver_due() == 1
        await make_due(database)
        assert await courier(played).deliver_due() == 0, "nobody tries any more"
        [dead] = (await outbox.list(tenant="acme", state="dead")).items
        assert (dead.ticket_id, dead.error) == (ticket, "HTTP 500")
        assert await outbox.count("dead") == 1
        with pytest.raises(NotFound):
            await outbox.resend(dead.id, tenant="other")
        await outbox.resend(dead.id, tenant="acme")
        with pytest.raises(Conflict):
            await outbox.resend(dead.id, tenant="acme")
        await courier(played).deliver_due()
        assert (await outbox.list(tenant="acme", state="sent")).items[0].id == dead.id
        assert played.got[-1].headers["webhook-id"] == dead.id


async def test_all_dead_letters_of_a_tenant_are_sent_again_at_once(
    database: Database, outbox: Outbox, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    for _ in range(2):
        await answered(tickets)
    with Played() as played:
        played.next(410, 410)
        await courier(played).deliver_due()
        assert await outbox.count("dead", tenant="acme") == 2
        assert await outbox.count("dead", tenant="other") == await outbox.resend_all(tenant="other") == 0
        assert await outbox.resend_all(tenant="acme") == 2
        await courier(played).deliver_due()
    assert await outbox.count("sent") == 2


async def test_a_receiver_that_is_gone_is_left_alone(
    database: Database, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    await answered(tickets)
    with Played() as played:
        played.next(410)
        await courier(played).deliver_due()
    assert (await all_of(database))[0]["state"] == "dead"


async def test_what_waits_for_a_receiver_that_has_another_name_now_becomes_a_dead_letter(
    database: Database, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    await answered(tickets)
    renamed = Outbox(database, [Receiver("helpdesk2", "acme", frozenset({"answered"}))])
    undeliverable, known = Undeliverable(renamed, ["helpdesk2"]), Undeliverable(renamed, ["helpdesk"])
    await undeliverable.end()
    [row] = await all_of(database)
    assert row["state"] == "waiting", "another replica may still take it there"
    async with database.begin() as connection:
        await connection.execute(update(table).values(due_at=datetime.now(UTC) - timedelta(seconds=100)))
    await known.end()
    assert await renamed.count("dead") == 0
    with capture_logs() as logs:
        await undeliverable.end()
        await undeliverable.end()
    error = "the configuration names no such receiver"
    assert logs == [{"event": "dead letters", "log_level": "error", "target": "helpdesk", "count": 1, "error": error}]  # fmt: skip
    [left] = (await renamed.list(tenant="acme")).items
    assert (left.state, left.error) == ("dead", error)
    await renamed.resend(left.id, tenant="acme")
    with Played() as played:
        assert await courier(played).deliver_due() == 1  # it is named as before
        assert len(played.got) == 1


async def test_replicas_that_look_at_once_send_each_only_once(
    tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    for number in range(30):
        await answered(tickets, f"What is {number}?")
    with Played() as played:
        replicas = [courier(played) for _ in range(4)]
        while sum(await asyncio.gather(*(one.deliver_due() for one in replicas))):
            pass
        ids = [got.headers["webhook-id"] for got in played.got]
    assert len(ids) == len(set(ids)) == 30


async def test_what_a_dead_process_held_is_sent_by_another(
    database: Database, outbox: Outbox, tickets: Tickets, courier: Callable[[Played], Courier]
) -> None:
    await answered(tickets)
    [held] = await outbox.claim("helpdesk", limit=5)  # and then it dies
    with Played() as played:
        assert await courier(played).deliver_due() == 0, "until the claim lapses"
        await make_due(database)
        assert await courier(played).deliver_due() == 1
        assert played.got[0].headers["webhook-id"] == held.id
    await outbox.failed(held, "too late to say")
    assert (await all_of(database))[0]["state"] == "sent", "a claim that lapsed says nothing any more"


async def test_a_mistake_of_ours_stops_neither_the_others_nor_the_next_attempt(
    database: Database, outbox: Outbox, tickets: Tickets
) -> None:
    first, second = await answered(tickets, "one?"), await answered(tickets, "two?")

    class Breaks:
        async def send(self, delivery: Delivery) -> None:
            if delivery.ticket_id == first:
                raise ZeroDivisionError(SECRET)
            if delivery.ticket_id != second:
                raise NotDelivered("unknown")

    results: list[tuple[str, str]] = []
    courier = Courier(outbox, "helpdesk", Breaks(), watch=lambda *told: results.append(told))
    with capture_logs() as logged:
        assert await courier.deliver_due() == 2
    assert next(line["error"] for line in logged if line["event"] == "delivery broke") == "ZeroDivisionError"
    assert not any(SECRET in str(line) for line in logged if line["log_level"] != "debug")
    rows = {row["ticket_id"]: (row["state"], row["error"]) for row in await all_of(database)}
    assert rows == {first: ("waiting", "broke: ZeroDivisionError"), second: ("sent", "")}
    assert sorted(results) == [("helpdesk", "failed"), ("helpdesk", "sent")]


async def test_nothing_is_sent_of_a_ticket_that_was_deleted(
    database: Database, outbox: Outbox, tickets: Tickets, http: httpx2.AsyncClient
) -> None:
    await answered(tickets)
    [held] = await outbox.claim("helpdesk", limit=5)
    async with database.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM tickets")
    assert await all_of(database) == []
    with pytest.raises(NotDelivered):
        await WebhookSender(http, database, url="http://127.0.0.1:1/", secrets=[SECRET]).send(held)
