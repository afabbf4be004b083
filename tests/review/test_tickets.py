"""Questions that wait for a person, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from gateway.errors import Conflict, InvalidRequest, NotFound, TicketNotStored
from gateway.review.tickets import NewTicket, Ticket, Tickets, canonical_id, open_within
from storage.schema import ticket_events
from storage.schema import tickets as table
from storage.sql import Database
from tests.review.asking import STEPS, answer, dismiss, question


async def opened(tickets: Tickets, text: str = "How much is a residence card?", **options: object) -> str:
    return await tickets.open(
        question(text, **options), outcome="escalated", reason="gate_unsure", steps=STEPS
    )  # type: ignore[arg-type]


async def test_a_ticket_holds_everything_a_person_needs(database: Database) -> None:
    tickets = Tickets(database)
    ticket = await tickets.get(await opened(tickets), tenant="acme")
    assert re.fullmatch(r"T-[0-9A-HJKMNP-TV-Z]{8}", ticket.id)
    assert ticket.real_question == "Hi. How much is a residence card? Thanks"
    assert ticket.question == "How much is a residence card?"
    assert ticket.turns == ({"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hi!"})
    assert (ticket.outcome, ticket.reason, ticket.state, ticket.asker) == (
        "escalated",
        "gate_unsure",
        "open",
        "u-1",
    )
    assert [step["stage"] for step in ticket.steps] == [step.stage for step in STEPS]
    assert ticket.steps[4]["found"]["contexts"][0]["text"] == "The fee is 300 yen."
    assert ticket.created_at.tzinfo is not None


async def test_a_text_that_no_database_takes_is_kept_all_the_same(database: Database) -> None:
    tickets = Tickets(database)
    ticket = await tickets.get(await opened(tickets, "half \ud83d and \x00 nul"), tenant="acme")
    assert ticket.question == "half ? and � nul"


async def test_another_tenants_ticket_is_not_there(database: Database) -> None:
    tickets = Tickets(database)
    ticket_id = await opened(tickets)
    changes: list[Callable[..., Awaitable[object]]] = [tickets.get, tickets.events]
    for look in changes:
        with pytest.raises(NotFound):
            await look(ticket_id, tenant="other")
    with pytest.raises(NotFound):
        await tickets.claim(ticket_id, tenant="other", by="Sato")
    assert (await tickets.list(tenant="other")).items == ()


FULL_WIDTH = (
    "Ｔ－７Ｋ３Ｍ０Ｑ２１",
    "ｔー７ｋ３ｍｏｑ２ｌ",
    "７Ｋ３Ｍ　０Ｑ２Ｌ",
    "T‐7K3M0Q21",
    "T−7K3M−0Q21",
)


@pytest.mark.parametrize("typed", ["T-7K3M0Q21", "t-7k3moq2i", "7K3M 0Q2L", " t_7k3m0q2l ", *FULL_WIDTH])
def test_an_id_is_understood_as_it_was_read_out(typed: str) -> None:
    assert canonical_id(typed) == "T-7K3M0Q21"


@pytest.mark.parametrize(
    "typed", ["", "T-", "../../etc", "x" * 10_000, "\u0323\u0301" * 10_000, "T-日本\x00\ud800"]
)
async def test_a_strange_id_is_not_there(database: Database, typed: str) -> None:
    with pytest.raises(NotFound):
        await Tickets(database).get(typed, tenant="acme")


async def test_pages_follow_each_other_without_gap_or_repeat(database: Database) -> None:
    tickets = Tickets(database)
    made = [await opened(tickets, f"question {number}") for number in range(7)]
    seen: list[str] = []
    after: str | None = None
    while True:
        page = await tickets.list(tenant="acme", limit=3, after=after)
        seen += [ticket.id for ticket in page.items]
        after = page.next
        if after is None:
            break
    assert seen == made


async def test_a_list_is_narrowed_by_state_and_language(database: Database) -> None:
    tickets = Tickets(database)
    english, japanese = await opened(tickets), await opened(tickets, "料金は？", language="ja")
    await tickets.claim(japanese, tenant="acme", by="Sato")
    found = await tickets.list(tenant="acme", state="open")
    assert [ticket.id for ticket in found.items] == [english]
    found = await tickets.list(tenant="acme", language="ja")
    assert [ticket.id for ticket in found.items] == [japanese]
    assert await tickets.count_open() == 2
    assert await tickets.count_open(older_than=timedelta(hours=1)) == 0
    await dismiss(tickets, english, tenant="acme", by="Sato")
    assert await tickets.count_open() == 1


async def test_two_reviewers_reach_for_one_ticket_and_one_gets_it(database: Database) -> None:
    tickets = Tickets(database)
    ticket_id = await opened(tickets)
    results = await asyncio.gather(
        *(tickets.claim(ticket_id, tenant="acme", by=by) for by in ("Sato", "Suzuki", "Tanaka")),
        return_exceptions=True,
    )
    held = [one for one in results if isinstance(one, Ticket)]
    assert len(held) == 1
    assert sum(isinstance(one, Conflict) for one in results) == 2
    with pytest.raises(Conflict, match=f"claimed by {held[0].claimed_by}"):
        await answer(tickets, ticket_id, tenant="acme", by="Yamada", answer="mine")


async def test_every_change_leaves_an_event(database: Database) -> None:
    tickets = Tickets(database)
    ticket_id = await opened(tickets)
    await tickets.claim(ticket_id, tenant="acme", by="Sato")
    await tickets.claim(ticket_id, tenant="acme", by="Sato")
    await tickets.release(ticket_id, tenant="acme", by="Sato")
    await tickets.release(ticket_id, tenant="acme", by="Sato")
    await answer(tickets, ticket_id, tenant="acme", by="Suzuki", answer="300 yen.")
    events = await tickets.events(ticket_id, tenant="acme")
    assert [(event.event, event.by) for event in events] == [
        ("opened", "gateway"), ("claimed", "Sato"), ("released", "Sato"), ("answered", "Suzuki"),
    ]  # fmt: skip
    assert (await tickets.get(ticket_id, tenant="acme")).revision == 4


async def test_an_admin_frees_what_somebody_who_left_still_holds(database: Database) -> None:
    tickets = Tickets(database)
    ticket_id = await opened(tickets)
    await tickets.claim(ticket_id, tenant="acme", by="Sato")
    with pytest.raises(Conflict, match="claimed by Sato"):
        await tickets.release(ticket_id, tenant="acme", by="Yamada")
    freed = await tickets.release(ticket_id, tenant="acme", by="Yamada", as_admin=True)
    assert (freed.state, freed.claimed_by) == ("open", None)
    await answer(tickets, ticket_id, tenant="acme", by="Suzuki", answer="300 yen.")
    with pytest.raises(Conflict, match="already answered"):
        await tickets.release(ticket_id, tenant="acme", by="Yamada", as_admin=True)


async def test_the_same_answer_again_changes_nothing_and_another_one_is_a_conflict(
    database: Database,
) -> None:
    tickets = Tickets(database)
    ticket_id = await opened(tickets)
    first = await answer(tickets, ticket_id, tenant="acme", by="Sato", answer=" 300 yen. ")
    assert await answer(tickets, ticket_id, tenant="acme", by="Sato", answer="300 yen.") == first
    assert (first.state, first.answer, first.claimed_by) == ("answered", "300 yen.", "Sato")
    for by, other in (("Sato", "400 yen."), ("Suzuki", "300 yen.")):
        with pytest.raises(Conflict, match="already answered by Sato"):
            await answer(tickets, ticket_id, tenant="acme", by=by, answer=other)
    with pytest.raises(Conflict):
        await dismiss(tickets, ticket_id, tenant="acme", by="Sato")


async def test_an_empty_answer_is_none(database: Database) -> None:
    tickets = Tickets(database)
    with pytest.raises(InvalidRequest, match="empty"):
        await answer(tickets, await opened(tickets), tenant="acme", by="Sato", answer=" \n")


async def test_an_id_that_is_taken_is_drawn_again(database: Database) -> None:
    ids = iter(["T-00000000", "T-00000000", "T-00000001"])
    tickets = Tickets(database, draw_id=lambda: next(ids))
    assert [await opened(tickets), await opened(tickets)] == ["T-00000000", "T-00000001"]


async def test_a_ticket_without_a_free_id_is_an_error(database: Database) -> None:
    tickets = Tickets(database, draw_id=lambda: "T-00000000")
    assert await opened(tickets) == "T-00000000"
    with pytest.raises(TicketNotStored, match="no free ticket number"):
        await opened(tickets)


async def test_a_ticket_that_nobody_asked_is_kept_with_what_it_is_about_or_not_at_all(
    database: Database,
) -> None:
    new = NewTicket(
        tenant="acme", group="", request_id="e-1@1", language="en", real_question="How much?",
        question="How much?", outcome="stale_entry", reason="review_due", entry_id="e-1",
    )  # fmt: skip
    async with database.begin() as connection:
        await open_within(connection, new)
        await connection.rollback()  # the rest could not be kept
    async with database.begin() as connection:
        ticket_id = await open_within(connection, new, by="Sato", detail={"entry_revision": 1})
    tickets = Tickets(database)
    [only] = (await tickets.list(tenant="acme")).items
    assert (only.id, only.state, only.asker, only.turns, only.revision) == (ticket_id, "open", None, (), 1)
    [event] = await tickets.events(ticket_id, tenant="acme")
    assert (event.by, event.event, event.detail) == (
        "Sato", "opened", {"reason": "review_due", "entry_revision": 1},
    )  # fmt: skip


async def test_a_ticket_that_cannot_be_stored_is_an_error_and_leaves_nothing(database: Database) -> None:
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE ticket_events RENAME TO elsewhere"))
    with pytest.raises(TicketNotStored):
        await opened(Tickets(database))
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE elsewhere RENAME TO ticket_events"))
        assert (await connection.execute(select(table))).all() == []
        assert (await connection.execute(select(ticket_events))).all() == []


async def test_a_closed_store_keeps_no_ticket(tmp_path: object) -> None:
    database = await Database.open(f"sqlite:///{tmp_path}/gone/sekisho.db")
    async with database.begin() as connection:
        await connection.execute(text("DROP TABLE ticket_events"))
        await connection.execute(text("DROP TABLE tickets"))
    with pytest.raises(TicketNotStored):
        await opened(Tickets(database))
    await database.close()
