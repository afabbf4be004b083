"""One action of a reviewer reaches everything that learns from it, or nothing."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import event, select

from cache.errors import DuplicatePhrasing
from cache.store import EntryStore
from gateway.delivery.outbox import Outbox, Receiver
from gateway.errors import Conflict, InvalidRequest, NotFound
from gateway.review import closing
from gateway.review.closing import Closed, Closing, Review
from gateway.review.closing.promotion import Publication
from gateway.review.gate_examples import GateExamples, Proposal
from gateway.review.judgements import Judgements
from gateway.review.tickets import Tickets
from storage import locking
from storage.schema import deliveries, draft_labels
from storage.sql import Database
from tests.review.asking import POLICY, STEPS, question

ANSWER = "A residence card is 300 yen."
DRAFTED = (*STEPS[:5], STEPS[6])  # one draft, checked


@dataclass
class Room:
    """Where a ticket is closed, and all that it may reach."""

    database: Database
    tickets: Tickets
    entries: EntryStore
    examples: GateExamples
    judgements: Judgements
    closing: Closing

    async def ticket(self, text: str = "How much is a residence card?", **asked: Any) -> str:
        return await self.tickets.open(
            question(text, **asked), outcome="withheld", reason="unsupported_statement", steps=DRAFTED
        )

    async def close(self, ticket: str, *, by: str = "Sato", tenant: str = "acme", **said: Any) -> Closed:
        return await self.closing.close(ticket, Review(**said), tenant=tenant, by=by)

    async def rows(self, table: Any) -> list[Any]:
        async with self.database.connect() as connection:
            return list((await connection.execute(select(table))).mappings())


@pytest.fixture
async def room(database: Database) -> Room:
    tickets = Tickets(
        database, announcing=Outbox(database, [Receiver("helpdesk", "acme", frozenset({"answered"}))])
    )
    entries, examples = EntryStore(database), GateExamples(database, POLICY)
    judgements = Judgements(database, tickets, examples)
    closing = Closing(tickets, entries, examples, judgements)
    return Room(database, tickets, entries, examples, judgements, closing)


async def test_one_action_answers_publishes_teaches_and_labels(room: Room) -> None:
    ticket = await room.ticket()
    closed = await room.close(ticket, answer=ANSWER, publication=Publication(), gate="must", faithful=False)
    assert (closed.ticket.state, closed.ticket.answer) == ("answered", ANSWER)
    assert closed.entry is not None
    found = await room.entries.find_exact("acme", "How much is a residence card?", "en")
    assert found is not None
    assert found.entry.id == closed.entry.id
    assert closed.example is not None
    assert (closed.example.label, closed.example.state) == ("must", "candidate"), "an admin accepts it"
    [kept] = await room.rows(draft_labels)
    assert (kept["ticket_id"], kept["faithful"], kept["by"]) == (ticket, False, "Sato")
    assert [row["ticket_id"] for row in await room.rows(deliveries)] == [ticket]


@pytest.mark.parametrize(
    ("said", "label", "topic"),
    [
        ({"gate": "may"}, "may", ""),
        ({"gate": "must_not", "topic": "crime"}, "must_not", "crime"),
    ],
)
async def test_what_is_not_ours_is_dismissed_and_proposed_to_the_gate(
    room: Room, said: dict[str, str], label: str, topic: str
) -> None:
    closed = await room.close(await room.ticket("Who won the match?"), **said)
    assert closed.ticket.state == "dismissed"
    assert closed.example is not None
    assert (closed.example.text, closed.example.label, closed.example.topic) == (
        "Who won the match?", label, topic,
    )  # fmt: skip
    assert await room.rows(deliveries) == [], "nobody asked to be told of what is dismissed"


async def test_taking_that_back_opens_the_ticket_and_withdraws_the_example(room: Room) -> None:
    ticket = await room.ticket("Who won the match?")
    await room.close(ticket, gate="may")
    with pytest.raises(Conflict):
        await room.closing.take_back(ticket, tenant="acme", by="Suzuki")
    assert (await room.examples.list("acme", state="candidate")).total == 1
    for _ in range(2):
        await room.closing.take_back(ticket, tenant="acme", by="Sato")
    assert (await room.tickets.get(ticket, tenant="acme")).state == "open"
    assert (await room.examples.list("acme", state="candidate")).total == 0


async def test_what_an_admin_accepted_meanwhile_stays(room: Room) -> None:
    ticket = await room.ticket("Who won the match?")
    example = (await room.close(ticket, gate="may")).example
    assert example is not None
    await room.examples.accept("acme", example.id, by="boss")
    await room.closing.take_back(ticket, tenant="acme", by="Sato")
    assert (await room.examples.get("acme", example.id)).state == "accepted"


async def test_doing_it_again_changes_nothing(room: Room) -> None:
    ticket = await room.ticket()
    said: dict[str, Any] = {"answer": ANSWER, "publication": Publication(), "gate": "must"}
    first = await room.close(ticket, **said)
    assert await room.close(ticket, **said) == first
    assert len(await room.rows(deliveries)) == 1
    assert (await room.close(ticket, answer=ANSWER, publication=Publication())).ticket == first.ticket
    for other in (
        {**said, "answer": "400 yen."},
        {**said, "gate": "may", "publication": None},
        {**said, "faithful": True},
        {"gate": "may"},
        {"answer": ANSWER},
    ):
        with pytest.raises(Conflict):
            await room.close(ticket, **other)
    with pytest.raises(Conflict):
        await room.close(ticket, by="Suzuki", **said)


async def test_a_second_click_is_no_conflict_with_what_was_said_before_the_answer(room: Room) -> None:
    """The console labels the draft and answers in two steps."""
    ticket = await room.ticket()
    await room.judgements.label_draft(ticket, tenant="acme", by="Sato", faithful=True)
    await room.judgements.gate_was_wrong(ticket, tenant="acme", by="Sato")
    first = await room.close(ticket, answer=ANSWER)
    assert (await room.close(ticket, answer=ANSWER)).ticket == first.ticket
    [kept] = await room.rows(draft_labels)
    assert kept["faithful"] is True


async def test_a_ticket_that_asks_the_same_gets_the_same_entry(room: Room) -> None:
    published = (await room.close(await room.ticket(), answer=ANSWER, publication=Publication())).entry
    assert published is not None
    other = await room.ticket("How much is such a residence card?")
    for _ in range(2):  # a repeat changes nothing
        closed = await room.close(other, answer=ANSWER, entry_id=published.id)
        assert (closed.ticket.state, closed.ticket.entry_id) == ("answered", published.id)
    assert (await room.entries.list("acme")).total == 1


async def test_if_one_part_is_refused_nothing_happened(room: Room) -> None:
    """The example waits as another class: no entry, no answer, no label, nothing on its way."""
    await room.examples.propose(
        Proposal(tenant="acme", label="may", by="Suzuki"), "How much is a residence card?"
    )
    ticket = await room.ticket()
    before = await room.tickets.get(ticket, tenant="acme")
    with pytest.raises(Conflict, match="already waits as may"):
        await room.close(ticket, answer=ANSWER, publication=Publication(), gate="must")
    assert await room.tickets.get(ticket, tenant="acme") == before, "who held nothing holds nothing now"
    assert await room.entries.find_exact("acme", "How much is a residence card?", "en") is None
    assert await room.rows(draft_labels) == await room.rows(deliveries) == []


async def test_an_entry_that_would_stand_twice_leaves_the_ticket_open(room: Room) -> None:
    await room.close(await room.ticket(), answer=ANSWER, publication=Publication())
    again = await room.ticket()
    with pytest.raises(DuplicatePhrasing):
        await room.close(again, answer="400 yen.", publication=Publication(), gate="must")
    assert (await room.tickets.get(again, tenant="acme")).answer is None
    assert (await room.examples.list("acme")).total == 0


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"publication": Publication()}, "answer"),
        ({"answer": ANSWER, "publication": Publication(), "gate": "may"}, "gate"),
        ({"answer": ANSWER, "gate": "must", "topic": "crime"}, "topic"),
        ({"gate": "must_not", "topic": "gossip"}, "topic"),
        ({"answer": "  "}, "answer"),
    ],
)
async def test_what_contradicts_itself_is_refused_by_name(
    room: Room, said: dict[str, Any], field: str
) -> None:
    ticket = await room.ticket()
    with pytest.raises(InvalidRequest) as refused:
        await room.close(ticket, **said)
    assert refused.value.param == field
    assert await room.rows(draft_labels) == []


async def test_a_draft_that_is_not_there_can_t_be_judged(room: Room) -> None:
    ticket = await room.tickets.open(question(), outcome="escalated", reason="gate_unsure", steps=STEPS[:2])
    with pytest.raises(InvalidRequest, match="has no draft"):
        await room.close(ticket, answer=ANSWER, faithful=True)


async def test_a_question_that_leans_on_others_teaches_the_gate_nothing(room: Room) -> None:
    ticket = await room.ticket("And for children?", self_contained=False)
    with pytest.raises(InvalidRequest, match="depends on earlier turns"):
        await room.close(ticket, answer=ANSWER, gate="must")
    assert (await room.close(ticket, answer=ANSWER)).ticket.state == "answered"


async def test_another_tenant_s_ticket_is_not_there(room: Room) -> None:
    ticket = await room.ticket()
    with pytest.raises(NotFound):
        await room.close(ticket, tenant="other", answer=ANSWER)


MAY = Review(gate="may")
PUBLISHED = Review(answer=ANSWER, publication=Publication())
OTHERWISE = Review(answer="400 yen.", publication=Publication())


@pytest.mark.parametrize(
    ("asked", "reviews", "wrong"),
    [
        (("Where is it?", "Where is it?"), (PUBLISHED, OTHERWISE), DuplicatePhrasing),
        (("Where is it?", "Where is it?"), (PUBLISHED, PUBLISHED), None),
        (("Where is it?", "“where is it”"), (Review(answer=ANSWER, gate="must"), MAY), Conflict),
        (("Where is it?", None), (MAY, Review(answer=ANSWER)), Conflict),
        (("Where is it?", "Where is it?"), (PUBLISHED, MAY), None),
    ],
    ids=["one question", "one entry", "one example", "one ticket", "nothing"],
)
async def test_a_rehearsal_finds_what_meets_and_holds_nobody_up(
    room: Room,
    asked: tuple[str, str | None],
    reviews: tuple[Review, Review],
    wrong: type[Exception] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two reviews that may meet stand far from each other; each transaction has room for two reviews."""
    monkeypatch.setattr(closing, "AT_ONCE", 2)
    monkeypatch.setattr(locking, "TURN_S", 0.0)
    first = await room.ticket(asked[0])
    last = first if asked[1] is None else await room.ticket(asked[1])
    between = [await room.ticket(f"Where is window {number}?") for number in range(4)]
    ids = [first, *between, last]
    said = [reviews[0], *(PUBLISHED for _ in between), reviews[1]]
    tickets = [await room.tickets.get(id_, tenant="acme") for id_ in ids]
    taken_back: list[object] = []
    async with room.database.begin() as connection:
        event.listen(connection.sync_engine, "rollback", taken_back.append)
    refused = await room.closing.rehearse(list(zip(tickets, said, strict=True)), tenant="acme", by="Sato")
    assert len(taken_back) == 3
    assert [await room.tickets.get(id_, tenant="acme") for id_ in ids] == tickets
    assert [type(one) for one in refused] == [*[type(None)] * 5, wrong or type(None)]
    for ticket, review in zip(ids[:5], said, strict=False):
        await room.closing.close(ticket, review, tenant="acme", by="Sato")
    with pytest.raises(wrong) if wrong else nullcontext():
        await room.closing.close(last, said[-1], tenant="acme", by="Sato")


async def test_two_reviewers_at_once_close_it_once(room: Room) -> None:
    ticket = await room.ticket()
    await room.tickets.claim(ticket, tenant="acme", by="Suzuki")
    with pytest.raises(Conflict, match="claimed by Suzuki"):
        await room.close(ticket, answer=ANSWER, gate="must")
    assert (await room.examples.list("acme")).total == 0
