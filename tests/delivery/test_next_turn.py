"""What a person answered is told in the conversation, to whoever asked, once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from gateway.delivery.next_turn import NextTurn
from gateway.domain import Conversation, Turn
from gateway.replies import Replies
from gateway.review.tickets import Tickets
from gateway.settings import PolicySettings
from gateway.stages import NO_NEWS
from storage.sealing import Seal
from storage.sql import Database
from tests.chatbot import Chatbot, Says
from tests.delivery.conftest import CONFIG, SECRET
from tests.gateway.running import Gateway, settings
from tests.receiver import Receiver
from tests.review.asking import answer, dismiss, question


def said(*texts: str, asker: str | None = None, tenant: str = "acme", group: str = "") -> Conversation:
    roles = ("user", "assistant") * len(texts)
    turns = tuple(Turn(role, text) for role, text in zip(roles, texts, strict=False))  # type: ignore[arg-type]
    return Conversation(turns=turns, tenant=tenant, group=group, request_id="r-2", asker=asker)


@pytest.fixture
def next_turn(database: Database) -> NextTurn:
    return NextTurn(database, Replies(PolicySettings()))


async def answered(database: Database, *, asker: str | None = "u-1", group: str = "") -> str:
    tickets = Tickets(database)
    ticket = await tickets.open(
        question(asker=asker, group=group), outcome="escalated", reason="gate_unsure", steps=()
    )
    await answer(tickets, ticket, tenant="acme", by="Sato", answer="300 yen.")
    return ticket


async def test_the_asker_gets_it_once_and_before_the_reply(database: Database, next_turn: NextTurn) -> None:
    ticket = await answered(database)
    news = await next_turn.take(said("Hi", asker="u-1"), "en")
    assert news.tickets == (ticket,)
    assert news.text.startswith("About your earlier question “How much is a residence card?”")
    assert news.text.endswith("300 yen.\n\n")
    assert (await next_turn.take(said("Hi", asker="u-1"), "en")) == NO_NEWS
    events = await Tickets(database).events(ticket, tenant="acme")
    assert (events[-1].event, events[-1].detail) == ("told", {"request_id": "r-2"})


async def test_who_asked_before_a_key_was_given_gets_it_too(database: Database, database_url: str) -> None:
    ticket = await answered(database)
    sealed = await Database.open(database_url, seal=Seal.of("0a" * 64))
    news = await NextTurn(sealed, Replies(PolicySettings())).take(said("Hi", asker="u-1"), "en")
    await sealed.close()
    assert news.tickets == (ticket,)


@pytest.mark.parametrize(
    "conversation",
    [
        pytest.param(said("Hi"), id="nobody says who he is"),
        pytest.param(said("Hi", asker="u-2"), id="another asker"),
        pytest.param(said("Hi", asker="u-1", tenant="other"), id="another tenant"),
        pytest.param(said("Tell me about {ticket}"), id="a number that the asker wrote"),
        pytest.param(said("Hm", "Your ticket is {ticket}.", "And?", asker="u-2"), id="another's number"),
    ],
)
async def test_nobody_else_gets_it(
    database: Database, next_turn: NextTurn, conversation: Conversation
) -> None:
    ticket = await answered(database)
    turns = tuple(Turn(turn.role, turn.text.replace("{ticket}", ticket)) for turn in conversation.turns)
    other = Conversation(turns=turns, tenant=conversation.tenant, request_id="r-2", asker=conversation.asker)
    assert await next_turn.take(other, "en") == NO_NEWS
    assert (await next_turn.take(said("Hi", asker="u-1"), "en")).tickets == (ticket,)


async def test_whose_they_are_is_read_from_an_index_however_many_wait(tmp_path: Path) -> None:
    database = await Database.open(f"sqlite:///{tmp_path / 'x.db'}")
    asked: list[tuple[str, Any]] = []
    async with database.connect() as connection:
        event.listen(
            connection.sync_engine, "before_cursor_execute", lambda *args: asked.append((args[2], args[3]))
        )
    await NextTurn(database, Replies(PolicySettings())).take(said("Hi", asker="u-1"), "en")
    [(statement, values)] = asked
    async with database.connect() as connection:
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)).all()
    assert "ix_tickets_asker" in str(plan), plan
    await database.close()


async def test_a_group_s_answer_stays_in_the_group(database: Database, next_turn: NextTurn) -> None:
    ticket = await answered(database, group="staff")
    assert await next_turn.take(said("Hi", asker="u-1"), "en") == NO_NEWS
    assert (await next_turn.take(said("Hi", asker="u-1", group="staff"), "en")).tickets == (ticket,)


async def test_the_conversation_itself_says_whose_it_is(database: Database, next_turn: NextTurn) -> None:
    ticket = await answered(database, asker=None)
    news = await next_turn.take(said("How much?", f"Your ticket is {ticket}.", "And?"), "en")
    assert news.tickets == (ticket,)


async def test_of_two_messages_at_once_one_gets_it(database: Database, next_turn: NextTurn) -> None:
    await answered(database)
    replies = await asyncio.gather(*(next_turn.take(said("Hi", asker="u-1"), "en") for _ in range(5)))
    assert sum(bool(one.tickets) for one in replies) == 1


async def test_what_still_waits_or_was_dismissed_is_not_told(database: Database, next_turn: NextTurn) -> None:
    tickets = Tickets(database)
    for _ in range(2):
        ticket = await tickets.open(question(), outcome="escalated", reason="r", steps=())
    await dismiss(tickets, ticket, tenant="acme", by="Sato")
    assert await next_turn.take(said("Hi", asker="u-1"), "en") == NO_NEWS


async def test_it_speaks_the_language_of_the_next_message(database: Database, next_turn: NextTurn) -> None:
    for language, words in (("ja", "担当者からの回答です"), ("zh", "工作人员答复如下")):
        await answered(database)
        news = await next_turn.take(said("…", asker="u-1"), language)
        assert words in news.text


def test_through_the_official_client(
    chatbot: Chatbot, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = CONFIG.format(chatbot=chatbot.base_url, receiver=receiver.url) + "  in_conversation: true\n"
    chatbot.when(
        "annex", Says("The annex opens at 11:30 and costs 800 yen.", contexts=["The annex opens at nine."])
    )
    with Gateway(settings(tmp_path_factory.mktemp("told"), text, SIGNING_SECRET=SECRET)) as gateway:
        client = gateway.openai()
        asked = client.chat.completions.create(
            model="sekisho", messages=[{"role": "user", "content": "When does the annex open?"}]
        )
        first = asked.choices[0].message.content or ""
        ticket = asked.model_extra["sekisho"]["ticket"]  # type: ignore[index]
        with gateway.http("reviewer") as reviewer:
            reviewer.post(f"/v1/tickets/{ticket}/answer", json={"answer": "At nine, and it is free."})
        history = [
            {"role": "user", "content": "When does the annex open?"},
            {"role": "assistant", "content": first},
            {"role": "user", "content": "Thanks"},
        ]
        told = client.chat.completions.with_raw_response.create(model="sekisho", messages=history)  # type: ignore[arg-type]
        assert told.headers["x-sekisho-told"] == ticket
        assert "At nine, and it is free." in (told.parse().choices[0].message.content or "")
        streamed = client.chat.completions.create(model="sekisho", messages=history, stream=True)  # type: ignore[arg-type]
        whole = "".join(chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices)  # type: ignore[union-attr]
        assert "free" not in whole, "once"
