"""A thumbs down is looked into by a person, and enough of them take an entry off the shelf; nobody does it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from cache.entries import Entry
from cache.matching import Hit
from cache.store import EntryStore
from cache.store.content import Content, content_of
from gateway.domain import Answered, Conversation, Draft, Passage, Question, Step, Turn
from gateway.review.closing import Review
from gateway.review.closing.promotion import Publication
from gateway.review.feedback import Feedback, Kept, Verdict
from gateway.review.feedback.given import GivenAnswers
from gateway.review.tickets import Ticket, Tickets
from gateway.settings.people import FeedbackSettings
from storage.schema import answers
from storage.schema import entries as entries_table
from storage.schema import feedback as table
from storage.sealing import Seal
from storage.sql import Database
from tests.review.asking import closing_desk, dismiss

DRAFT = Draft(
    text="It is free.", contexts=(Passage(text="The fee is 300 yen.", source="fees.md"),), model="m"
)


@dataclass
class Room:
    """Where askers say what they think."""

    database: Database
    entries: EntryStore
    tickets: Tickets
    given: GivenAnswers
    feedback: Feedback
    entry: Entry

    def answered(
        self, request: str, *, asker: str | None = None, question: str = "What is the fee?", rag: bool = False
    ) -> None:
        conversation = Conversation(
            turns=(Turn("user", f"Hi. {question}"),), tenant="acme", request_id=request, asker=asker
        )
        step = Step("rag", 1.0, DRAFT)
        if not rag:
            step = Step(
                "cache", 1.0, Hit(entry=self.entry, phrasing=question, tier="exact", score=1.0, reason="same")
            )
        self.given.outcome(
            Answered(
                question=Question(text=question, language="en", conversation=conversation),
                text="It is free.",
                source="rag" if rag else "ground_truth",
                reason="supported",
                entry=None if rag else self.entry.id,
                steps=(step,),
            )
        )

    async def say(
        self, request: str, verdict: Verdict = "down", *, by: str = "web", comment: str = ""
    ) -> Kept:
        return await self.feedback.keep(
            tenant="acme", request_id=request, verdict=verdict, comment=comment, by=by
        )

    async def down(self, askers: Sequence[str | None], *, start: int = 0, by: str = "web") -> Kept:
        for number, asker in enumerate(askers, start):
            self.answered(f"r-{number}", asker=asker)
            kept = await self.say(f"r-{number}", by=by)
        return kept

    async def waiting(self) -> tuple[Ticket, ...]:
        return (await self.tickets.list(tenant="acme")).items

    async def state(self) -> str:
        return (await self.entries.get("acme", self.entry.id)).state


@pytest.fixture
async def room(database: Database) -> Room:
    entries = EntryStore(database)
    content = Content(
        kind="ground_truth",
        language="en",
        phrasings=("What is the fee?",),
        answer="It is free.",
        owner="Sato",
    )
    entry = await entries.create("acme", content, by="Sato", state="active")
    given = GivenAnswers(database, keep_h=72)
    feedback = Feedback(database, given, FeedbackSettings(pause_after=3))
    return Room(database, entries, Tickets(database), given, feedback, entry)


async def test_enough_askers_take_an_entry_off_the_shelf(room: Room) -> None:
    assert not (await room.down(["a", "b"])).paused
    kept = await room.down(["c"], start=2)
    assert kept.paused
    assert await room.state() == "paused"
    assert await room.entries.find_exact("acme", "What is the fee?", "en") is None
    last = (await room.entries.history("acme", room.entry.id))[-1]
    assert (last.change, last.by) == ("paused", "feedback")


async def test_one_asker_counts_once_however_often_he_asks_and_says_so(room: Room) -> None:
    kept = await room.down(["a"] * 20)
    assert not kept.paused
    assert len(await room.waiting()) == 1, "his thumbs joined the ticket that waits"


async def test_a_thumb_joins_the_ticket_that_was_opened_before_a_key_was_given(
    room: Room, database_url: str
) -> None:
    room.answered("r-1", rag=True)
    opened = await room.say("r-1")
    sealed = await Database.open(database_url, seal=Seal.of("0a" * 64))
    given = GivenAnswers(sealed, keep_h=72)
    later = replace(room, database=sealed, given=given, feedback=Feedback(sealed, given, FeedbackSettings()))
    later.answered("r-2", rag=True)
    assert (await later.say("r-2")).tickets == opened.tickets
    await sealed.close()


async def test_the_same_request_counts_once_and_its_last_word_stands(room: Room) -> None:
    room.answered("r-1", asker="a")
    for _ in range(5):
        await room.say("r-1")
    await room.say("r-1", "up")
    async with room.database.connect() as connection:
        rows = (await connection.execute(select(table.c.verdict, table.c.asker))).all()
    assert [tuple(row) for row in rows] == [("up", "a")]
    [ticket] = await room.waiting()
    events = await room.tickets.events(ticket.id, tenant="acme")
    assert [event.event for event in events] == ["opened", "disputed"]


async def test_askers_without_an_id_count_once_for_each_key(room: Room) -> None:
    assert not (await room.down([None] * 10)).paused
    await room.down([None], start=10, by="intranet")
    assert await room.state() == "active"
    await room.down([None], start=11, by="app")
    assert await room.state() == "paused"


async def test_requests_that_the_entry_did_not_answer_do_not_count(room: Room) -> None:
    for number in range(5):
        kept = await room.say(f"made-up-{number}")
        assert kept == Kept(None, known=False)
        room.answered(f"r-{number}", asker=f"u-{number}", rag=True)
        assert (await room.say(f"r-{number}")).entry_id is None
    assert await room.state() == "active"


async def test_after_a_person_put_it_back_the_count_begins_again(room: Room) -> None:
    await room.down(["a", "b", "c"])
    paused = await room.entries.get("acme", room.entry.id)
    await room.entries.change_state("acme", paused.id, "active", revision=paused.revision, by="Suzuki")
    await room.down(["d", "e"], start=10)
    assert await room.state() == "active"
    await room.down(["f"], start=12)
    assert await room.state() == "paused"


async def test_thumbs_from_before_an_edit_were_about_another_answer(room: Room) -> None:
    await room.down(["a", "b"])
    content = replace(content_of(room.entry), answer="It is 300 yen.")
    await room.entries.edit("acme", room.entry.id, content, revision=room.entry.revision, by="Sato")
    await room.down(["c"], start=5)
    assert await room.state() == "active"


async def test_old_thumbs_do_not_count(room: Room) -> None:
    async with room.database.begin() as connection:
        past = datetime.now(UTC) - timedelta(days=90)
        await connection.execute(update(entries_table).values(updated_at=past))
    await room.down(["a", "b"])
    async with room.database.begin() as connection:
        await connection.execute(update(table).values(at=datetime.now(UTC) - timedelta(days=31)))
    await room.down(["c", "d"], start=5)
    assert await room.state() == "active"
    await room.down(["e"], start=9)
    assert await room.state() == "paused"


async def test_nothing_is_paused_where_the_operator_does_not_want_it(room: Room) -> None:
    never = Feedback(room.database, room.given, FeedbackSettings(pause_after=0))
    for number in range(6):
        room.answered(f"r-{number}", asker=f"u-{number}")
        await never.keep(tenant="acme", request_id=f"r-{number}", verdict="down", by="web")
    assert await room.state() == "active"
    assert len(await room.waiting()) == 1


async def test_a_thumbs_down_on_a_draft_opens_a_ticket_with_it(room: Room) -> None:
    room.answered("r-1", asker="a", rag=True)
    kept = await room.say("r-1", comment="It is not free.")
    [ticket] = await room.waiting()
    assert kept.tickets == (ticket.id,)
    assert (ticket.outcome, ticket.reason, ticket.asker) == ("disputed", "thumbs_down", "a")
    assert ticket.steps[0]["found"]["text"] == "It is free."
    assert ticket.steps[0]["found"]["contexts"][0]["source"] == "fees.md"
    events = await room.tickets.events(ticket.id, tenant="acme")
    assert events[-1].detail == {"request_id": "r-1", "comment": "It is not free."}


async def test_the_same_question_waits_once(room: Room) -> None:
    for number in range(4):
        room.answered(f"r-{number}", asker=f"u-{number}", rag=True)
        await room.say(f"r-{number}")
    room.answered("r-9", asker="a", question="Where is it?", rag=True)
    await room.say("r-9")
    assert sorted(ticket.question for ticket in await room.waiting()) == ["What is the fee?", "Where is it?"]


async def test_a_ticket_that_was_closed_is_not_opened_again_by_the_same_request(room: Room) -> None:
    room.answered("r-1", asker="a", rag=True)
    [ticket] = (await room.say("r-1")).tickets
    await dismiss(room.tickets, ticket, tenant="acme", by="Sato")
    assert (await room.say("r-1")).tickets == (ticket,)
    assert len(await room.waiting()) == 1
    room.answered("r-2", asker="b", rag=True)
    assert (await room.say("r-2")).tickets != (ticket,), "somebody else is not content either"


async def test_the_correction_takes_the_place_of_the_entry_and_serves_again(room: Room) -> None:
    kept = await room.down(["a", "b", "c"])
    desk: Any = closing_desk(room.database, room.tickets)
    closed = await desk.closing.close(
        kept.tickets[0], Review(answer="It is 300 yen.", publication=Publication()), tenant="acme", by="Sato"
    )
    assert closed.entry is not None
    assert (closed.entry.id, closed.entry.state, closed.entry.answer) == (
        room.entry.id, "active", "It is 300 yen.",
    )  # fmt: skip


async def test_answers_are_forgotten_when_their_time_is_over(room: Room) -> None:
    room.answered("r-1")
    await room.given.flush()
    async with room.database.begin() as connection:
        await connection.execute(update(answers).values(at=datetime.now(UTC) - timedelta(hours=73)))
    room.answered("r-2")
    await room.given.flush()
    await room.given.forget()
    async with room.database.connect() as connection:
        assert (await connection.scalars(select(answers.c.request_id))).all() == ["r-2"]
    none = GivenAnswers(room.database, keep_h=0)
    none.outcome(_any_answer())
    await none.flush()
    async with room.database.connect() as connection:
        assert await connection.scalar(select(func.count()).select_from(answers)) == 1


def _any_answer() -> Answered:
    conversation = Conversation(turns=(Turn("user", "?"),), tenant="acme", request_id="r")
    question = Question(text="?", language="en", conversation=conversation)
    return Answered(question=question, text="!", source="rag", reason="supported")
