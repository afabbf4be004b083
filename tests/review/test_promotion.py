"""An answer to a ticket becomes a verified entry: once, and never by halves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from cache.entries import Source
from cache.errors import DuplicatePhrasing, InvalidEntry
from cache.store import EntryStore
from cache.store.content import Content, content_of
from gateway.errors import Conflict, InvalidRequest, NotFound
from gateway.review.closing import Review
from gateway.review.closing.promotion import Publication, entry_id_of
from gateway.review.tickets import Tickets
from storage.schema import entries as entries_table
from storage.sql import Database
from tests.review.asking import answer, closing_desk, question

ANSWER = "A residence card is 300 yen."


async def opened(database: Database, text: str = "How much is a residence card?", **options: object) -> str:
    return await Tickets(database).open(
        question(text, **options),
        outcome="escalated",
        reason="nothing_relevant",
        steps=(),  # type: ignore[arg-type]
    )


async def published(
    database: Database, ticket_id: str, *, by: str = "Sato", answer: str = ANSWER, **more: object
):  # type: ignore[no-untyped-def]
    said = Review(answer=answer, publication=Publication(**more))  # type: ignore[arg-type]
    closing = closing_desk(database, Tickets(database)).closing
    closed = await closing.close(ticket_id, said, tenant="acme", by=by)
    return closed.ticket, closed.entry


async def count(database: Database) -> int:
    async with database.connect() as connection:
        return await connection.scalar(select(func.count()).select_from(entries_table)) or 0


async def test_a_published_answer_is_found_by_the_next_who_asks(database: Database) -> None:
    ticket, entry = await published(
        database,
        await opened(database),
        phrasings=("residence card fee",),
        sources=(Source("fees.md", "ab12"),),
    )
    assert (ticket.state, ticket.answer, ticket.entry_id) == ("answered", ANSWER, entry.id)
    assert (entry.kind, entry.state, entry.owner, entry.sources) == (
        "ground_truth", "active", "Sato", (Source("fees.md", "ab12"),),
    )  # fmt: skip
    for text in ("How much is a residence card?", "Residence card fee"):
        found = await EntryStore(database).find_exact("acme", text, "en")
        assert found is not None
        assert found.entry.id == entry.id
    assert await EntryStore(database).find_exact("other", "residence card fee", "en") is None


async def test_doing_it_again_makes_no_second_entry(database: Database) -> None:
    ticket_id = await opened(database)
    first = await published(database, ticket_id)
    assert await published(database, ticket_id) == first
    assert await count(database) == 1


@pytest.mark.parametrize("answer", [ANSWER, "It is 400 yen now."])
async def test_a_process_that_died_between_entry_and_ticket_is_caught_up(
    database: Database, answer: str
) -> None:
    ticket_id = await opened(database)
    tickets, entries = Tickets(database), EntryStore(database)
    ticket = await tickets.claim(ticket_id, tenant="acme", by="Sato")
    left_behind = Content(kind="ground_truth", language="en", phrasings=(ticket.question,), answer=ANSWER)
    await entries.create("acme", left_behind, by="Sato", state="active", entry_id=entry_id_of(ticket))
    # the process dies here; the ticket is still his, and he sends the answer again
    ticket, entry = await published(database, ticket_id, answer=answer)
    assert (ticket.state, ticket.entry_id, entry.answer) == ("answered", entry.id, answer)
    assert await count(database) == 1


async def test_two_reviewers_publish_at_once_and_one_of_them_does(database: Database) -> None:
    ticket_id = await opened(database)
    results = await asyncio.gather(
        published(database, ticket_id, by="Sato", answer="300 yen."),
        published(database, ticket_id, by="Suzuki", answer="400 yen."),
        return_exceptions=True,
    )
    [done] = [one for one in results if isinstance(one, tuple)]
    assert sum(isinstance(one, Conflict) for one in results) == 1
    ticket = await Tickets(database).get(ticket_id, tenant="acme")
    entry = await EntryStore(database).get("acme", entry_id_of(ticket))
    assert entry.answer == ticket.answer == done[0].answer


async def test_the_same_click_twice_at_once_is_one_entry(database: Database) -> None:
    ticket_id = await opened(database)
    await asyncio.gather(published(database, ticket_id), published(database, ticket_id))
    assert await count(database) == 1


async def test_an_entry_that_was_edited_since_is_not_undone_by_a_repeat(database: Database) -> None:
    ticket_id = await opened(database)
    _, entry = await published(database, ticket_id)
    newer = replace(content_of(entry), answer="350 yen.")
    await EntryStore(database).edit("acme", entry.id, newer, revision=1, by="Suzuki")
    _, entry = await published(database, ticket_id)
    assert entry.answer == "350 yen."


async def test_an_answered_ticket_is_not_published_by_another(database: Database) -> None:
    ticket_id = await opened(database)
    await answer(Tickets(database), ticket_id, tenant="acme", by="Sato", answer=ANSWER)
    for by in ("Sato", "Suzuki"):
        with pytest.raises(Conflict, match="already answered by Sato"):
            await published(database, ticket_id, by=by)
    assert await count(database) == 0


async def test_a_question_that_another_entry_answers_otherwise_leaves_the_ticket_open(
    database: Database,
) -> None:
    await published(database, await opened(database))
    second = await opened(database)
    with pytest.raises(DuplicatePhrasing):
        await published(database, second, answer="It is 400 yen now.")
    ticket = await Tickets(database).get(second, tenant="acme")
    assert (ticket.state, ticket.claimed_by, ticket.answer) == ("open", None, None)


async def test_a_question_that_another_entry_answers_so_already_is_closed_with_that_entry(
    database: Database,
) -> None:
    _, entry = await published(database, await opened(database), phrasings=("residence card fee",))
    for text in ("“How much is a residence card?”", "Residence card fee"):
        again = await opened(database, text)
        for _ in range(2):  # a repeat changes nothing
            ticket, found = await published(database, again, by="Suzuki", answer=f" {ANSWER}\n")
            assert (ticket.state, ticket.entry_id, found) == ("answered", entry.id, entry)
    assert await count(database) == 1


@pytest.mark.parametrize(
    "said",
    [{"phrasings": ("What does one cost?",)}, {"group": "", "question": "Staff's fee?"}],
    ids=["it says more", "it is for more people"],
)
async def test_an_entry_that_says_less_than_the_answer_to_be_published_does_not_do_for_it(
    database: Database, said: dict[str, Any]
) -> None:
    await published(database, await opened(database))
    await published(database, await opened(database, "Staff's fee?", group="staff"))
    second = await opened(database)
    with pytest.raises(DuplicatePhrasing):
        await published(database, second, **said)
    assert (await Tickets(database).get(second, tenant="acme")).state == "open"


async def test_what_cannot_be_an_entry_answers_nothing(database: Database) -> None:
    ticket_id = await opened(database)
    with pytest.raises(InvalidEntry, match="phrasings"):
        await published(database, ticket_id, phrasings=("?!",))
    assert (await Tickets(database).get(ticket_id, tenant="acme")).answer is None


async def test_a_question_that_leans_on_its_conversation_must_be_said_in_full(database: Database) -> None:
    ticket_id = await opened(database, "And for children?", self_contained=False)
    with pytest.raises(InvalidRequest, match="depends on earlier turns"):
        await published(database, ticket_id)
    _, entry = await published(database, ticket_id, question="How much is a residence card for children?")
    assert entry.phrasings == ("How much is a residence card for children?",)


async def test_another_tenants_ticket_is_not_published(database: Database) -> None:
    with pytest.raises(NotFound):
        await published(database, await opened(database, tenant="other"))


@pytest.mark.parametrize(
    ("given", "group"), [({}, "staff"), ({"group": ""}, ""), ({"group": "board"}, "board")]
)
async def test_an_answer_to_a_group_stays_in_it_unless_the_reviewer_says_otherwise(
    database: Database, given: dict[str, str], group: str
) -> None:
    _, entry = await published(database, await opened(database, group="staff"), **given)
    assert entry.group == group
