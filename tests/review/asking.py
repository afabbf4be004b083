"""A question on its way to a person, with every kind of step behind it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from types import SimpleNamespace

import numpy as np

from cache.entries import Entry, Source
from cache.matching import Hit, Miss, NearMiss
from cache.store import EntryStore
from classifiers.faithfulness import NewPart, PassageSpan, StatementVerdict, Unchecked, verdict_of
from classifiers.gate import ClassPolicy, GateVerdict, Neighbour, Policy, Topic
from gateway.domain import Conversation, Draft, NothingRelevant, Passage, Question, Step, Turn
from gateway.review.closing import Closing
from gateway.review.feedback import Feedback
from gateway.review.feedback.given import GivenAnswers
from gateway.review.gate_examples import GateExamples
from gateway.review.judgements import Judgements
from gateway.review.tickets import Ticket, Tickets
from gateway.settings.people import FeedbackSettings
from storage.sql import Database

POLICY = Policy(
    must=ClassPolicy("Questions about papers.", ("How much is a passport?",)),
    topics=(Topic("crime", "Crimes.", ("How do I forge a passport?",)),),
)

ENTRY = Entry(
    id="e-1",
    tenant="acme",
    kind="ground_truth",
    language="en",
    phrasings=("How much is a passport?", "passport fee"),
    answer="16,000 yen.",
    state="active",
    sources=(Source("fees.md", "ab12"),),
    valid_until=date(2027, 3, 31),
    created_at=datetime(2026, 4, 1, tzinfo=UTC),
    updated_at=datetime(2026, 4, 1, tzinfo=UTC),
)
STATEMENT = StatementVerdict(
    text="It is free.",
    start=0,
    end=11,
    state="unsupported",
    score=float(np.float32(0.25)),
    reason="“free” is new",
    judge="lexical@1",
    new=(NewPart("wording", "free"),),
    span=PassageSpan(0, 0, 19, "The fee is 300 yen."),
)
STEPS = (
    Step(
        "gate",
        1.5,
        GateVerdict(
            label="must",
            score=0.9,
            reason="near an example",
            nearest=Neighbour("example", "passport?", 0.9, 0.5, "must"),
            judge="examples@1",
        ),
    ),
    Step("cache", 0.5, NearMiss(entry=ENTRY, phrasing="passport fee", score=0.8, reason="another document")),
    Step("cache", 0.5, Hit(entry=ENTRY, phrasing="passport fee", tier="exact", score=1.0, reason="same")),
    Step("cache", 0.5, Miss(reason="nothing close", lookup_failed=True)),
    Step("rag", 80.0, Draft(text="It is free.", contexts=(Passage(text="The fee is 300 yen."),), model="m")),
    Step("rag", 80.0, NothingRelevant("no passage")),
    Step(
        "faithfulness",
        2.0,
        verdict_of([STATEMENT], judge="lexical@1"),
    ),
    Step("faithfulness", float("nan"), Unchecked(reason="nothing_to_check", judge="lexical@1")),
)


def closing_desk(database: Database, tickets: Tickets) -> SimpleNamespace:
    """What the routes need of the desk: where tickets are closed."""
    examples = GateExamples(database, POLICY)
    judgements = Judgements(database, tickets, examples)
    feedback = Feedback(database, GivenAnswers(database, keep_h=72), FeedbackSettings())
    closing = Closing(tickets, EntryStore(database), examples, judgements)
    return SimpleNamespace(closing=closing, feedback=feedback)


async def answer(
    tickets: Tickets, ticket_id: str, *, tenant: str = "acme", by: str = "Sato", answer: str = "300 yen."
) -> Ticket:
    """Answer a ticket, and nothing else."""
    async with tickets._db.begin() as connection:
        return await tickets.answer_within(connection, ticket_id, tenant=tenant, by=by, answer=answer)


async def dismiss(tickets: Tickets, ticket_id: str, *, tenant: str = "acme", by: str = "Sato") -> Ticket:
    """Dismiss a ticket, and nothing else."""
    async with tickets._db.begin() as connection:
        return await tickets.dismiss_within(connection, ticket_id, tenant=tenant, by=by)


def question(
    text: str = "How much is a residence card?",
    *,
    tenant: str = "acme",
    group: str = "",
    language: str = "en",
    self_contained: bool = True,
    asker: str | None = "u-1",
) -> Question:
    conversation = Conversation(
        turns=(Turn("user", "Hello"), Turn("assistant", "Hi!"), Turn("user", f"Hi. {text} Thanks")),
        tenant=tenant,
        group=group,
        request_id="r-1",
        asker=asker,
    )
    return Question(text=text, language=language, conversation=conversation, self_contained=self_contained)
