"""What a reviewer decides besides the answer teaches the gate and the judge, and can be taken back."""

from __future__ import annotations

import pytest

from classifiers.gate import Policy
from gateway.errors import InvalidRequest
from gateway.review.gate_examples import GateExamples
from gateway.review.judgements import Judgements, drafted
from gateway.review.tickets import Tickets
from storage.sql import Database
from tests.review.asking import STEPS, question

BY = {"tenant": "acme", "by": "Sato"}


@pytest.fixture
def tickets(database: Database) -> Tickets:
    return Tickets(database)


@pytest.fixture
def judgements(database: Database, tickets: Tickets) -> Judgements:
    return Judgements(database, tickets, GateExamples(database, Policy()))


async def _open(
    tickets: Tickets,
    text: str = "How much is a residence card?",
    *,
    drafted: bool = True,
) -> str:
    steps = tuple(step for step in STEPS if drafted or step.stage == "gate")
    asked = question(text)
    return await tickets.open(
        asked, outcome="withheld", reason="unsupported_statement", steps=steps[:5] if drafted else steps
    )


async def test_a_doubt_of_the_gate_becomes_a_must_example_and_the_ticket_still_waits(
    tickets: Tickets, judgements: Judgements
) -> None:
    id_ = await _open(tickets)
    assert (await judgements.gate_was_wrong(id_, **BY)).label == "must"
    assert (await tickets.get(id_, tenant="acme")).state == "open"
    await judgements.gate_was_right(id_, **BY)
    assert await judgements.proposed(id_, tenant="acme") is None


async def test_a_draft_that_was_fine_is_a_labelled_case_until_that_is_taken_back(
    tickets: Tickets, judgements: Judgements
) -> None:
    id_ = await _open(tickets)
    await judgements.label_draft(id_, **BY, faithful=False)
    await judgements.label_draft(id_, **BY, faithful=True)
    [label] = await judgements.labels("acme")
    assert (label.faithful, label.answer, label.contexts) == (True, "It is free.", ("The fee is 300 yen.",))
    assert await judgements.labels("globex") == ()
    await judgements.unlabel_draft(id_, **BY)
    await judgements.unlabel_draft(id_, **BY)
    assert await judgements.labels("acme", ticket_id=id_) == ()


async def test_nobody_takes_back_what_another_said_of_a_draft(
    tickets: Tickets, judgements: Judgements
) -> None:
    id_ = await _open(tickets)
    await judgements.label_draft(id_, **BY, faithful=True)
    await judgements.label_draft(id_, tenant="acme", by="Suzuki", faithful=False)
    await judgements.unlabel_draft(id_, **BY)
    assert [(one.by, one.faithful) for one in await judgements.labels("acme")] == [("Suzuki", False)]


async def test_without_a_draft_there_is_nothing_to_label(tickets: Tickets, judgements: Judgements) -> None:
    id_ = await _open(tickets, drafted=False)
    assert drafted(await tickets.get(id_, tenant="acme")) is None
    with pytest.raises(InvalidRequest, match="no draft"):
        await judgements.label_draft(id_, **BY, faithful=True)
