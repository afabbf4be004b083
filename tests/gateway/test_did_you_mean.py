"""The grey zone: what was nearly served is asked about, and a yes is the asker's answer and a reviewer's work."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry
from sqlalchemy import select, text, update

from cache.entries import Source
from cache.guards import Compared
from cache.indexing import index_pending
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.store.suggestions import Suggestion, Suggestions
from classifiers.gate import GateVerdict
from encoders import Encoded
from gateway.checking.drafts import DraftCheck
from gateway.documents.ingestion import DocumentChange
from gateway.domain import (
    Answered,
    Conversation,
    Draft,
    NothingRelevant,
    Offer,
    Offers,
    OnDraft,
    Passage,
    Question,
    Turn,
)
from gateway.errors import SekishoError, UpstreamUnavailable
from gateway.gatekeeping.turns import ConversationGate
from gateway.handover import Handover
from gateway.metrics import Metrics
from gateway.offering.accepted import AcceptedOffers
from gateway.offering.near import NearQuestions
from gateway.people.access import BootstrapKey, Keys
from gateway.pipeline import Pipeline
from gateway.recording.outcomes import OutcomeLog
from gateway.review.entries.rereview import outdate_and_ask
from gateway.review.tickets import Tickets
from gateway.routes import answers, openai
from gateway.routes.envelope import envelope
from gateway.routes.middleware import RequestId
from gateway.settings import ServerSettings, UnderstandingSettings
from gateway.telemetry import Telemetry
from gateway.understanding import Understanding
from storage.schema import ticket_events
from storage.schema import tickets as tickets_table
from storage.sealing import Seal
from storage.sql import Database, DatabaseUnavailable
from storage.testing import MemoryIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content
from tests.gateway.test_pipeline import NEAR_MISS, REPLIES, Stages, ask, checked, gate
from tests.understanding.asking import follow_ups

ENTRY = "How do I reset my account password?"
NEAR = "How do I change my library password?"
KEYS = {
    "web": BootstrapKey("sk-of-the-client-0001", "shop", "client", "web"),
    "staff": BootstrapKey("sk-of-the-client-0002", "shop", "client", "intranet", "staff"),
    "stranger": BootstrapKey("sk-of-a-stranger-0001", "bank", "client", "bank"),
}


class NotGuard:
    """Tells “not” from its absence, and nothing else."""

    name = "polarity"

    def veto(self, compared: Compared, /) -> str | None:
        negated = "not" in compared.question.split()
        return None if negated == ("not" in compared.phrasing.split()) else "one of them is negated"


@dataclass
class Desk:
    """A gateway whose chatbot says what a test put there; everything else is real."""

    database: Database
    rag_says: Draft | NothingRelevant | Exception = field(default_factory=lambda: NothingRelevant("none"))
    gate_says: GateVerdict = field(default_factory=lambda: gate("must"))
    passes: bool = True

    def __post_init__(self) -> None:
        self.encoder = WordEncoder()
        self.index = MemoryIndex(self.encoder.identity)
        self.entries = EntryStore(self.database)
        self.shelf = Shelf(self.entries, self.index, self.encoder, weights=WEIGHTS, guards=[NotGuard()])
        self.near = NearQuestions(self.shelf, self.encoder)
        self.suggestions = Suggestions(self.database)
        self.acceptances = AcceptedOffers(self.database, self.entries, self.suggestions)
        outcomes = OutcomeLog(self.database, on_lost=lambda rows: None)
        metrics = Metrics(CollectorRegistry())
        self.telemetry = Telemetry(metrics, outcomes, None, self.acceptances, texts=False)
        self.settings = type(
            "Settings", (), {"server": ServerSettings(), "understanding": UnderstandingSettings()}
        )
        self.keys = Keys(self.database, bootstrap=list(KEYS.values()))
        self.pipeline = self.made()

    def made(self, *, offers: bool = True) -> Pipeline:
        return Pipeline(
            understanding=Understanding(follow_ups()), encoder=self.encoder,
            gate=ConversationGate(_Gate(self), self.encoder), cache=self.shelf, rag=_Rag(self),
            check=DraftCheck(_Judge(self)), replies=REPLIES, watch=self.telemetry,
            handover=Handover(Tickets(self.database), REPLIES, self.near if offers else None),
        )  # fmt: skip

    async def add(self, *phrasings: str, **changed: Any) -> str:
        entry = await self.entries.create("shop", content(*phrasings, **changed), by="ann", state="active")
        await index_pending(self.entries, self.index, self.encoder)
        return entry.id

    async def post(self, path: str, body: Any, *, who: str = "web") -> Any:
        headers = {"Authorization": f"Bearer {KEYS[who].key}", "Content-Type": "application/json"}
        return await self.http.post(path, content=json.dumps(body), headers=headers)

    async def asked(self, question: str, **options: Any) -> dict[str, Any]:
        told: dict[str, Any] = (await self.post("/v1/answers", {"question": question}, **options)).json()
        return told

    async def suggested(self) -> Sequence[Suggestion]:
        return (await self.suggestions.list("shop")).suggestions

    http: httpx2.AsyncClient = field(init=False)


@dataclass
class _Gate:
    desk: Desk

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        return self.desk.gate_says


@dataclass
class _Rag:
    desk: Desk

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        if isinstance(self.desk.rag_says, Exception):
            raise self.desk.rag_says
        return self.desk.rag_says


@dataclass
class _Judge:
    desk: Desk

    async def judge(self, answer: str, contexts: Sequence[str], /, *, question: str | None = None) -> Any:
        return checked(passed=self.desk.passes)


def question(text: str) -> Question:
    conversation = Conversation(turns=(Turn("user", text),), tenant="shop", request_id="r-1")
    return Question(text=text, language="en", conversation=conversation)


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[Desk]:
    desk = Desk(database)
    app = FastAPI()
    app.state.services = desk
    app.include_router(answers.router)
    app.include_router(openai.router)
    app.add_middleware(RequestId)

    @app.exception_handler(SekishoError)
    async def named(_: Request, exc: SekishoError) -> JSONResponse:
        return JSONResponse(envelope(exc), exc.status)

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gateway") as http:
        desk.http = http
        yield desk


DRAFT = Draft(text="Nine to five.", contexts=(Passage(text="We open at nine."),), model="m")


async def test_a_question_that_was_nearly_served_is_asked_about(desk: Desk) -> None:
    entry = await desk.add(ENTRY)
    told = await desk.asked(NEAR)
    assert (told["outcome"], told["reason"]) == ("escalated", "nothing_relevant")
    [offer] = told["did_you_mean"]
    assert (offer["entry"], offer["question"]) == (entry, ENTRY)
    assert 0.425 <= offer["score"] < 0.85
    assert told["questions"][0]["did_you_mean"] == told["did_you_mean"]
    assert told["text"].endswith(f"\n- {ENTRY}")
    assert "Did you mean" in told["text"]
    assert "Forgot password" not in told["text"]


@pytest.mark.parametrize(
    ("changed", "outcome", "offered"),
    [
        ({"rag_says": DRAFT, "passes": False}, "withheld", True),
        ({"gate_says": gate("unsure")}, "escalated", True),
        ({"rag_says": UpstreamUnavailable("dead")}, "escalated", True),
        ({"rag_says": DRAFT}, "rag", False),
        ({"gate_says": gate("may")}, "refused", False),
        ({"gate_says": gate("must_not")}, "refused", False),
    ],
)
async def test_only_who_would_get_no_answer_is_asked(
    desk: Desk, changed: dict[str, Any], outcome: str, offered: bool
) -> None:
    await desk.add(ENTRY)
    for name, value in changed.items():
        setattr(desk, name, value)
    told = await desk.asked(NEAR)
    assert told["outcome"] == outcome
    assert bool(told["did_you_mean"]) is offered
    assert (ENTRY in told["text"]) is offered


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("How do I not change my library password?", "web"),  # a guard objects
        ("Which wine goes with fish?", "web"),  # not near
        (NEAR, "stranger"),  # another tenant's
        ("パスワードを変更したい", "web"),  # another language's shelf
    ],
)
async def test_what_is_another_question_or_another_s_is_never_offered(
    desk: Desk, question: str, who: str
) -> None:
    await desk.add(ENTRY)
    told = await desk.asked(question, who=who)
    assert (told["outcome"], told["did_you_mean"]) == ("escalated", [])
    assert ENTRY not in told["text"]


async def test_the_entries_of_a_group_are_offered_to_the_group(desk: Desk) -> None:
    await desk.add(ENTRY, group="staff")
    assert (await desk.asked(NEAR))["did_you_mean"] == []
    assert len((await desk.asked(NEAR, who="staff"))["did_you_mean"]) == 1


async def test_a_paused_entry_is_not_offered(desk: Desk) -> None:
    entry = await desk.add(ENTRY)
    await desk.entries.change_state("shop", entry, "paused", revision=1, by="ann")
    assert (await desk.asked(NEAR))["did_you_mean"] == []


async def test_nothing_is_offered_unless_the_operator_says_so(desk: Desk) -> None:
    await desk.add(ENTRY)
    desk.pipeline = desk.made(offers=False)
    told = await desk.asked(NEAR)
    assert (told["outcome"], told["did_you_mean"]) == ("escalated", [])
    assert [step["stage"] for step in told["questions"][0]["steps"]] == ["gate", "cache", "rag"]


async def test_at_most_three_are_offered_the_most_probable_first(desk: Desk) -> None:
    for letter in "abcde":
        await desk.add(f"How do I reset my account password {letter}?")
    found = await desk.near.near(question("How do I reset my account password today?"))
    assert len(found.offers) == 3
    assert list(found.offers) == sorted(found.offers, key=lambda one: -one.score)


async def test_a_dead_index_offers_nothing_and_keeps_no_ticket_back(desk: Desk) -> None:
    await desk.add(ENTRY)
    desk.index.fail()
    assert await desk.near.near(question(NEAR)) == Offers(())
    assert (await desk.asked(NEAR))["outcome"] == "escalated"


class BrokenOffers:
    """Breaks like no store does."""

    async def near(self, question: Question, /) -> Offers:
        raise KeyError("a bug")


async def test_offers_that_break_lose_no_question() -> None:
    stages = Stages(cache_says=NEAR_MISS, rag_says=NothingRelevant("none"), did_you_mean=BrokenOffers())
    reply = await ask(stages)
    assert (reply.name, reply.outcomes[0].reason) == ("escalated", "internal_error")
    assert len(stages.opened) == 1
    assert [type(exc) for exc in stages.failures] == [KeyError]


@pytest.mark.parametrize(
    ("language", "lead"), [("en", "Did you mean"), ("ja", "お尋ねになりたいのは"), ("zh", "您想问的")]
)
def test_offers_are_made_in_the_asker_s_language(language: str, lead: str) -> None:
    offers = (Offer("e-1", "One?", 0.7), Offer("e-2", "Two?", 0.6))
    asked = Conversation(turns=(Turn("user", "?"),), tenant="default", request_id="r")
    question = Question(text="?", language=language, conversation=asked)
    text = REPLIES.waiting("escalated", question, "T-1", "nothing_relevant", offers)
    first, empty, asks, *questions = text.split("\n")
    assert "T-1" in first
    assert (empty, asks.startswith(lead), questions) == ("", True, ["- One?", "- Two?"])


async def accept(desk: Desk, told: dict[str, Any], *, who: str = "web", **changed: Any) -> Any:
    body = {"entry": told["did_you_mean"][0]["entry"], "request_id": told["id"]} | changed
    return await desk.post("/v1/answers", {"accept": body}, who=who)


async def test_a_yes_gets_the_verified_answer_and_becomes_a_suggestion(desk: Desk) -> None:
    entry = await desk.add(ENTRY)
    told = await desk.asked(NEAR)
    for _ in range(2):  # a yes said twice counts once
        reply = await accept(desk, told)
        assert reply.status_code == 200
        answer = reply.json()
        assert (answer["outcome"], answer["reason"], answer["entry"]) == (
            "ground_truth",
            "accepted_offer",
            entry,
        )
        assert answer["text"] == "Press “Forgot password”."
        assert reply.headers["x-sekisho-entry"] == entry
        assert answer["questions"][0]["question"] == NEAR
    [only] = await desk.suggested()
    assert (only.text, only.entry_id, only.source, only.times, only.state, only.by) == (
        NEAR, entry, "accepted", 1, "open", "web",
    )  # fmt: skip
    again = await desk.asked(NEAR)
    assert again["outcome"] == "escalated"  # a suggestion is never served by itself
    events = await Tickets(desk.database).events(told["ticket"], tenant="shop")
    assert [(one.event, one.by) for one in events] == [("opened", "gateway"), ("offer_accepted", "web")]
    await accept(desk, again)
    assert (await desk.suggested())[0].times == 2


@pytest.mark.parametrize(
    ("who", "changed"),
    [
        ("web", {"entry": "another"}),
        ("web", {"request_id": "another"}),
        ("stranger", {}),
        ("staff", {}),
        ("web", {"entry": "\x00"}),
    ],
)
async def test_only_what_was_offered_to_this_asker_can_be_accepted(
    desk: Desk, who: str, changed: dict[str, str]
) -> None:
    await desk.add(ENTRY)
    await desk.add("Which wine goes with fish?")
    reply = await accept(desk, await desk.asked(NEAR), who=who, **changed)
    assert (reply.status_code, reply.json()["error"]["param"]) == (404, "accept")
    assert await desk.suggested() == ()


async def test_an_entry_that_was_paused_since_is_not_served_to_a_yes(desk: Desk) -> None:
    entry = await desk.add(ENTRY)
    told = await desk.asked(NEAR)
    await desk.entries.change_state("shop", entry, "paused", revision=1, by="ann")
    reply = await accept(desk, told)
    assert reply.status_code == 404
    assert "not served any more" in reply.json()["error"]["message"]
    assert await desk.suggested() == ()


async def test_a_yes_comes_too_late_after_a_day(desk: Desk) -> None:
    await desk.add(ENTRY)
    told = await desk.asked(NEAR)
    async with desk.database.begin() as connection:
        earlier = datetime.now(UTC) - timedelta(days=2)
        await connection.execute(update(tickets_table).values(created_at=earlier))
    assert (await accept(desk, told)).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": "x", "accept": {"entry": "e", "request_id": "r"}},
        {"accept": {"entry": "e"}},
        {"accept": {"entry": "", "request_id": "r"}},
    ],
)
async def test_a_yes_is_one_whole_request(desk: Desk, body: dict[str, Any]) -> None:
    assert (await desk.post("/v1/answers", body)).status_code == 422


async def said_in_chat(desk: Desk, *turns: tuple[str, str]) -> Any:
    messages = [{"role": role, "content": text} for role, text in turns]
    return (await desk.post("/v1/chat/completions", {"messages": messages})).json()


async def test_a_yes_in_a_chat_is_the_offered_question_itself(desk: Desk) -> None:
    entry = await desk.add(ENTRY)
    first = await said_in_chat(desk, ("user", NEAR))
    offered = first["choices"][0]["message"]["content"]
    assert offered.endswith(f"- {ENTRY}")
    turns = (("user", NEAR), ("assistant", offered), ("user", ENTRY))
    second = await said_in_chat(desk, *turns)
    assert (second["sekisho"]["reason"], second["sekisho"]["entry"]) == ("verified_exact", entry)
    assert await desk.suggested() == ()  # no asker waits for it
    await desk.acceptances.flush()
    [only] = await desk.suggested()
    assert (only.text, only.source, only.times) == (NEAR, "accepted", 1)
    await said_in_chat(desk, *turns)
    await desk.acceptances.flush()
    assert (await desk.suggested())[0].times == 1


async def test_a_ticket_that_asks_for_an_entry_to_be_read_again_offered_nothing(desk: Desk) -> None:
    hours = "When do you open?"
    await desk.add(ENTRY)
    await desk.add(hours, sources=(Source("hours.md", "1"),))
    async with desk.database.begin() as connection:
        await outdate_and_ask(connection, [DocumentChange(document="hours.md", version="2")])
    told = await said_in_chat(desk, ("user", hours), ("assistant", f"- {ENTRY}"), ("user", ENTRY))
    assert told["sekisho"]["reason"] == "verified_exact"
    await desk.acceptances.flush()
    assert await desk.suggested() == ()


def _yes(offered: str, entry: str) -> Answered:
    turns = (Turn("user", NEAR), Turn("assistant", offered), Turn("user", ENTRY))
    conversation = Conversation(turns=turns, tenant="shop", request_id="r-2")
    asked = Question(text=ENTRY, language="en", conversation=conversation)
    return Answered(question=asked, text="Here.", source="ground_truth", reason="verified_exact", entry=entry)


async def test_a_yes_that_could_not_be_counted_is_counted_when_it_is_written_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.add(ENTRY)
    offered = (await said_in_chat(desk, ("user", NEAR)))["choices"][0]["message"]["content"]
    await said_in_chat(desk, ("user", NEAR), ("assistant", offered), ("user", ENTRY))
    keep = desk.suggestions.add_within

    async def breaks(*_: Any, **__: Any) -> None:
        raise DatabaseUnavailable("away")

    monkeypatch.setattr(desk.suggestions, "add_within", breaks)
    with pytest.raises(DatabaseUnavailable):
        await desk.acceptances.flush()
    monkeypatch.setattr(desk.suggestions, "add_within", keep)
    await desk.acceptances.flush()
    [only] = await desk.suggested()
    assert (only.text, only.times) == (NEAR, 1)


async def test_a_yes_that_sql_refuses_is_told(desk: Desk) -> None:
    lost: list[int] = []
    acceptances = AcceptedOffers(desk.database, desk.entries, desk.suggestions, on_lost=lost.append)
    entry = await desk.add(ENTRY)
    offered = (await said_in_chat(desk, ("user", NEAR)))["choices"][0]["message"]["content"]
    await desk.suggestions.add(
        (await desk.entries.list("shop")).entries[0], "Other words?", source="ticket", by=""
    )
    async with desk.database.begin() as connection:
        await connection.execute(text("CREATE UNIQUE INDEX one_each ON suggestions (tenant)"))
    acceptances.outcome(_yes(offered, entry))
    await acceptances.flush()
    assert lost == [1]
    async with desk.database.connect() as connection:
        events = (await connection.scalars(select(ticket_events.c.event))).all()
    assert "offer_accepted" not in events


async def test_a_yes_is_heard_to_what_was_offered_before_a_key_was_given(
    desk: Desk, database_url: str
) -> None:
    entry = await desk.add(ENTRY)
    offered = (await said_in_chat(desk, ("user", NEAR)))["choices"][0]["message"]["content"]
    sealed = await Database.open(database_url, seal=Seal.of("0a" * 64))
    suggestions = Suggestions(sealed)
    acceptances = AcceptedOffers(sealed, EntryStore(sealed), suggestions)
    acceptances.outcome(_yes(offered, entry))
    await acceptances.flush()
    [only] = (await suggestions.list("shop")).suggestions
    await sealed.close()
    assert only.text == NEAR


@pytest.mark.parametrize(
    "before",
    [
        (),
        (("user", NEAR), ("assistant", "I don't know.")),
        (("user", "Which wine goes with fish?"), ("assistant", f"Did you mean\n- {ENTRY}")),
        (("assistant", f"- {ENTRY}"),),
    ],
    ids=["a first question", "nothing was offered", "a made-up offer", "no question before"],
)
async def test_the_same_question_is_no_yes_where_it_was_not_offered(
    desk: Desk, before: tuple[tuple[str, str], ...]
) -> None:
    await desk.add(ENTRY)
    await desk.asked("Which wine goes with fish?")  # a ticket, without an offer
    told = await said_in_chat(desk, *before, ("user", ENTRY))
    assert told["sekisho"]["reason"] == "verified_exact"
    await desk.acceptances.flush()
    assert await desk.suggested() == ()
