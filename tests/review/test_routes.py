"""Reviewers and askers over HTTP: tickets, entries, feedback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import insert, select

from cache.indexing import index_pending
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.trial import Trials
from encoders.testing import HashingEncoder
from gateway.metrics import Metrics
from gateway.people.access import BootstrapKey, Keys
from gateway.recording.outcomes import OutcomeLog
from gateway.review.entries.approval import Approvals
from gateway.review.tickets import Tickets
from gateway.routes import documents, entries, feedback, review
from gateway.settings import Settings
from gateway.telemetry import Telemetry
from languages.identification import Language, language_of
from storage.schema import feedback as feedback_table
from storage.schema import outcomes
from storage.sql import Database
from storage.testing import MemoryIndex
from storage.vectors import IndexUnavailable
from tests.review.asking import STEPS, closing_desk, question
from tests.review.over_http import over_http

KEYS = {
    "client": BootstrapKey("sk-of-the-client-0001", "acme", "client", "web"),
    "staff": BootstrapKey("sk-of-the-client-0002", "acme", "client", "intranet", "staff"),
    "sato": BootstrapKey("sk-of-the-reviewer-0001", "acme", "reviewer", "Sato"),
    "admin": BootstrapKey("sk-of-the-admin-00001", "acme", "admin", "Git hook"),
    "suzuki": BootstrapKey("sk-of-the-reviewer-0002", "acme", "reviewer", "Suzuki"),
    "stranger": BootstrapKey("sk-of-a-stranger-0001", "other", "admin", "Stranger"),
}
ENTRY = {"phrasings": ["How much is a passport?", "passport fee"], "answer": "16,000 yen.", "state": "active"}


@dataclass
class Stores:
    """The real stores, with an index that can be switched off."""

    database: Database
    entries: EntryStore
    index: MemoryIndex
    encoder: HashingEncoder
    index_is_there: bool = True

    def language_of(self, text: str) -> Language:
        return language_of(text, default="ja")

    async def index_pending(self) -> int:
        if not self.index_is_there:
            raise IndexUnavailable("switched off")
        return await index_pending(self.entries, self.index, self.encoder)


@dataclass
class Services:
    """What these routes need of the gateway."""

    stores: Stores
    tickets: Tickets
    keys: Keys
    approvals: Approvals
    desk: Any
    telemetry: Telemetry
    settings: Settings = field(default_factory=Settings)


@dataclass
class Gateway:
    """The gateway over HTTP, asked by name."""

    stores: Stores
    tickets: Tickets
    http: httpx2.AsyncClient
    status: int = field(default=0)

    async def ask(self, who: str, method: str, path: str, body: Any = None, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {KEYS[who].key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        reply = await self.http.request(method, path, content=content, headers=headers, **options)
        self.status = reply.status_code
        return reply.json()

    async def ticket(self, text: str = "How much is a residence card?", **options: Any) -> str:
        return await self.tickets.open(
            question(text, **options), outcome="withheld", reason="unsupported_statement", steps=STEPS
        )


def services_over(stores: Any, tickets: Tickets, keys: Keys, approvals: Approvals) -> Services:
    log = OutcomeLog(stores.database, on_lost=lambda rows: None)
    telemetry = Telemetry(Metrics(CollectorRegistry()), log, texts=False)
    return Services(stores, tickets, keys, approvals, closing_desk(stores.database, tickets), telemetry)


def approvals_over(stores: Stores) -> Approvals:
    shelf = Shelf(stores.entries, stores.index, stores.encoder)
    trials = Trials(shelf, stores.entries, stores.index, stores.encoder)
    return Approvals(stores.database, trials, stores.encoder)


@pytest.fixture
async def gateway(database: Database) -> AsyncIterator[Gateway]:
    encoder = HashingEncoder()
    stores = Stores(database, EntryStore(database), MemoryIndex(encoder.identity), encoder)
    tickets = Tickets(database)
    keys = Keys(database, bootstrap=list(KEYS.values()))
    services = services_over(stores, tickets, keys, approvals_over(stores))
    async with over_http(services, review, entries, feedback, documents) as http:
        yield Gateway(stores, tickets, http)


async def test_the_asker_polls_his_ticket_and_sees_no_more_than_his(gateway: Gateway) -> None:
    ticket = await gateway.ticket()
    polled = await gateway.ask("client", "GET", f"/v1/tickets/{ticket}")
    assert set(polled) == {"id", "state", "question", "answer", "created_at", "answered_at"}
    assert (polled["state"], polled["answer"]) == ("open", None)
    await gateway.ask("sato", "POST", f"/v1/tickets/{ticket}/answer", {"answer": "300 yen."})
    polled = await gateway.ask("client", "GET", f"/v1/tickets/{ticket.lower()}")
    assert (polled["state"], polled["answer"]) == ("answered", "300 yen.")
    assert polled["answered_at"].endswith("+00:00")


async def test_the_ticket_of_a_group_is_polled_by_that_group_only(gateway: Gateway) -> None:
    ticket = await gateway.ticket(group="staff")
    await gateway.ask("client", "GET", f"/v1/tickets/{ticket}")
    assert gateway.status == 404
    for who in ("staff", "sato"):
        assert (await gateway.ask(who, "GET", f"/v1/tickets/{ticket}"))["id"] == ticket
    public = await gateway.ticket()
    assert (await gateway.ask("staff", "GET", f"/v1/tickets/{public}"))["id"] == public


async def test_reviewers_see_the_entries_of_all_groups_and_move_them(gateway: Gateway) -> None:
    made = await gateway.ask("sato", "POST", "/v1/entries", {**ENTRY, "group": "staff"})
    assert made["entry"]["group"] == "staff"
    for params, total in (({}, 1), ({"group": "staff"}, 1), ({"group": ""}, 0)):
        assert (await gateway.ask("sato", "GET", "/v1/entries", params=params))["total"] == total
    path = f"/v1/entries/{made['entry']['id']}"
    moved = await gateway.ask("sato", "PATCH", path, {"revision": 1, "group": ""})
    assert (moved["entry"]["group"], moved["entry"]["answer"]) == ("", ENTRY["answer"])
    await gateway.ask("sato", "PATCH", path, {"revision": 2, "group": "Sales Team"})
    assert gateway.status == 400


async def test_a_reviewer_sees_everything(gateway: Gateway) -> None:
    seen = await gateway.ask("sato", "GET", f"/v1/tickets/{await gateway.ticket()}")
    assert seen["real_question"] == "Hi. How much is a residence card? Thanks"
    assert [step["found"]["type"] for step in seen["steps"]][:2] == ["gate_verdict", "near_miss"]
    assert seen["events"][0]["event"] == "opened"


async def test_two_reviewers_on_one_ticket_see_who_holds_it(gateway: Gateway) -> None:
    ticket = await gateway.ticket()
    claimed = await gateway.ask("sato", "POST", f"/v1/tickets/{ticket}/claim")
    assert (claimed["state"], claimed["claimed_by"]) == ("claimed", "Sato")
    for action, body in (("claim", None), ("release", None), ("answer", {"answer": "x"}), ("dismiss", {})):
        refused = await gateway.ask("suzuki", "POST", f"/v1/tickets/{ticket}/{action}", body)
        assert gateway.status == 409
        assert "claimed by Sato" in refused["error"]["message"]
    await gateway.ask("sato", "POST", f"/v1/tickets/{ticket}/release")
    assert (await gateway.ask("suzuki", "POST", f"/v1/tickets/{ticket}/claim"))["claimed_by"] == "Suzuki"


async def test_a_ticket_is_dismissed_with_or_without_a_word(gateway: Gateway) -> None:
    first, second = await gateway.ticket(), await gateway.ticket()
    assert (await gateway.ask("sato", "POST", f"/v1/tickets/{first}/dismiss"))["state"] == "dismissed"
    await gateway.ask("sato", "POST", f"/v1/tickets/{second}/dismiss", {"comment": "not ours"})
    seen = await gateway.ask("sato", "GET", f"/v1/tickets/{second}")
    assert seen["events"][-1]["detail"] == {"comment": "not ours"}


async def test_a_published_answer_is_indexed_at_once(gateway: Gateway) -> None:
    ticket = await gateway.ticket()
    body = {
        "answer": "300 yen.",
        "publish": True,
        "kind": "confirmed_answer",
        "phrasings": ["residence card fee"],
        "sources": [{"document": "fees.md", "version": "ab12"}],
    }
    done = await gateway.ask("sato", "POST", f"/v1/tickets/{ticket}/answer", body)
    assert (gateway.status, done["indexed"], done["state"]) == (200, True, "answered")
    assert done["entry"]["id"] == done["entry_id"]
    assert done["entry"]["kind"] == "confirmed_answer"
    assert len(await gateway.stores.index.ids()) == 2


async def test_a_dead_index_keeps_no_answer_back_and_is_caught_up_later(gateway: Gateway) -> None:
    gateway.stores.index_is_there = False
    ticket = await gateway.ticket()
    done = await gateway.ask(
        "sato", "POST", f"/v1/tickets/{ticket}/answer", {"answer": "300 yen.", "publish": True}
    )
    assert (gateway.status, done["indexed"], done["state"]) == (200, False, "answered")
    gateway.stores.index_is_there = True
    assert await gateway.stores.index_pending() == 1
    assert len(await gateway.stores.index.ids()) == 1


async def test_a_duplicate_is_a_conflict_that_names_the_field(gateway: Gateway) -> None:
    await gateway.ask("sato", "POST", "/v1/entries", ENTRY)
    ticket = await gateway.ticket("How much is a passport?")
    refused = await gateway.ask(
        "sato", "POST", f"/v1/tickets/{ticket}/answer", {"answer": "x", "publish": True}
    )
    assert (gateway.status, refused["error"]["param"]) == (409, "phrasings")


async def test_tickets_come_in_pages(gateway: Gateway) -> None:
    made = [await gateway.ticket(f"question {number}") for number in range(3)]
    first = await gateway.ask("sato", "GET", "/v1/tickets", params={"limit": 2, "state": "open"})
    rest = await gateway.ask("sato", "GET", "/v1/tickets", params={"limit": 2, "after": first["next"]})
    assert [ticket["id"] for page in (first, rest) for ticket in page["tickets"]] == made
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/tickets"),
        ("POST", "/v1/tickets/{ticket}/claim"),
        ("POST", "/v1/tickets/{ticket}/release"),
        ("POST", "/v1/tickets/{ticket}/dismiss"),
        ("POST", "/v1/tickets/{ticket}/answer"),
        ("GET", "/v1/entries"),
        ("POST", "/v1/entries"),
        ("GET", "/v1/entries/{entry}"),
        ("PATCH", "/v1/entries/{entry}"),
        ("GET", "/v1/entries/{entry}/history"),
        ("POST", "/v1/entries/{entry}/state"),
    ],
)
async def test_a_client_may_not_and_another_tenant_finds_nothing(
    gateway: Gateway, method: str, path: str
) -> None:
    entry = (await gateway.ask("sato", "POST", "/v1/entries", ENTRY))["entry"]["id"]
    path = path.format(ticket=await gateway.ticket(), entry=entry)
    bodies = {
        "answer": {"answer": "x"},
        "state": {"state": "paused"},
        "entries": ENTRY,
        entry: {"revision": 1, "answer": "x"},
    }
    body = bodies.get(path.rsplit("/", 1)[-1])
    refused = await gateway.ask("client", method, path, body)
    assert (gateway.status, refused["error"]["code"]) == (403, "role_not_allowed")
    seen = await gateway.ask("stranger", method, path, body)
    if "{" in path or path not in ("/v1/tickets", "/v1/entries"):
        assert (gateway.status, seen["error"]["code"]) == (404, "not_found")
    elif method == "GET":
        assert not seen.get("tickets")
        assert not seen.get("entries")


async def test_an_entry_lives_through_its_states_with_its_history(gateway: Gateway) -> None:
    made = await gateway.ask(
        "sato", "POST", "/v1/entries", {**ENTRY, "state": "draft", "valid_until": "2027-03-31"}
    )
    path = f"/v1/entries/{made['entry']['id']}"
    assert (gateway.status, made["entry"]["state"], made["entry"]["language"], made["entry"]["owner"]) == (
        201, "draft", "en", "Sato",
    )  # fmt: skip
    active = await gateway.ask("sato", "POST", f"{path}/state", {"state": "active"})
    assert (active["entry"]["state"], active["indexed"]) == ("active", True)
    edited = await gateway.ask(
        "suzuki",
        "PATCH",
        path,
        {"revision": 2, "phrasings": ["Passport?"], "valid_until": None, "sources": []},
    )
    assert (edited["entry"]["phrasings"], edited["entry"]["answer"]) == (["Passport?"], "16,000 yen.")
    assert edited["entry"]["valid_until"] is None
    assert len(await gateway.stores.index.ids()) == 1
    await gateway.ask("sato", "POST", f"{path}/state", {"state": "retired", "revision": 3})
    assert await gateway.stores.index.ids() == set()
    history = (await gateway.ask("sato", "GET", f"{path}/history"))["history"]
    assert [(change["change"], change["by"]) for change in history] == [
        ("created", "Sato"), ("activated", "Sato"), ("edited", "Suzuki"), ("retired", "Sato"),
    ]  # fmt: skip
    assert history[0]["entry"]["valid_until"] == "2027-03-31"


async def test_an_editor_who_read_an_old_revision_overwrites_nothing(gateway: Gateway) -> None:
    made = await gateway.ask("sato", "POST", "/v1/entries", ENTRY)
    path = f"/v1/entries/{made['entry']['id']}"
    results = await asyncio.gather(
        *(gateway.ask(who, "PATCH", path, {"revision": 1, "answer": who}) for who in ("sato", "suzuki"))
    )
    assert sum("entry" in result for result in results) == 1
    assert [result["error"]["code"] for result in results if "error" in result] == ["conflict"]


async def test_a_document_kept_elsewhere_is_told_of_and_its_entry_read_again(gateway: Gateway) -> None:
    sources = [{"document": "cms/7", "version": "1"}]
    made = await gateway.ask("sato", "POST", "/v1/entries", {**ENTRY, "sources": sources})
    path, told = f"/v1/entries/{made['entry']['id']}", {"document": "cms/7", "version": "2"}
    await gateway.ask("sato", "POST", "/v1/documents/changed", told)
    assert gateway.status == 403
    assert (await gateway.ask("stranger", "POST", "/v1/documents/changed", told))["stale"] == []
    done = await gateway.ask("admin", "POST", "/v1/documents/changed", told)
    assert (done["stale"], done["indexed"]) == ([made["entry"]["id"]], True)
    assert await gateway.stores.index.ids() == set()
    [ticket] = (await gateway.ask("sato", "GET", "/v1/tickets", params={"state": "open"}))["tickets"]
    assert (ticket["entry_id"], ticket["outcome"], ticket["steps"][0]["now"]) == (
        made["entry"]["id"],
        "stale_entry",
        "2",
    )
    history = (await gateway.ask("sato", "GET", f"{path}/history"))["history"]
    assert (history[-1]["change"], history[-1]["by"]) == ("outdated", "Git hook")
    edited = await gateway.ask("suzuki", "PATCH", path, {"revision": 2, "answer": "17,000 yen."})
    assert edited["entry"]["state"] == "stale"
    active = await gateway.ask("suzuki", "POST", f"{path}/state", {"state": "active", "revision": 3})
    assert (active["entry"]["state"], active["entry"]["revision"]) == ("active", 4)
    assert [source["version"] for source in active["entry"]["sources"]] == ["2"]
    seen = await gateway.ask("sato", "GET", f"/v1/tickets/{ticket['id']}")
    assert (seen["state"], seen["claimed_by"], seen["answer"]) == ("answered", "Suzuki", "17,000 yen.")
    assert len(await gateway.stores.index.ids()) == 2
    assert (await gateway.ask("admin", "POST", "/v1/documents/changed", told))["stale"] == []


async def test_an_answer_names_the_revision_of_the_ticket_that_was_read(gateway: Gateway) -> None:
    await gateway.ask("sato", "POST", "/v1/entries", {**ENTRY, "sources": [{"document": "cms/7"}]})
    await gateway.ask("admin", "POST", "/v1/documents/changed", {"document": "cms/7", "version": "2"})
    [read] = (await gateway.ask("sato", "GET", "/v1/tickets"))["tickets"]
    await gateway.ask("admin", "POST", "/v1/documents/changed", {"document": "cms/7", "version": "3"})
    path, answer = f"/v1/tickets/{read['id']}", {"answer": "17,000 yen.", "publish": True}
    refused = await gateway.ask("sato", "POST", f"{path}/answer", answer | {"revision": read["revision"]})
    assert (gateway.status, refused["error"]["code"]) == (409, "conflict")
    now = await gateway.ask("sato", "GET", path)
    assert [(step["now"], step.get("revision")) for step in now["steps"]] == [("2", None), ("3", 2)]
    done = await gateway.ask("sato", "POST", f"{path}/answer", answer | {"revision": now["revision"]})
    assert done["entry"]["sources"][0]["version"] == "3"


async def test_an_editor_of_an_old_revision_brings_no_stale_entry_back(gateway: Gateway) -> None:
    made = await gateway.ask("sato", "POST", "/v1/entries", {**ENTRY, "sources": [{"document": "cms/7"}]})
    await gateway.ask("admin", "POST", "/v1/documents/changed", {"document": "cms/7", "version": None})
    path = f"/v1/entries/{made['entry']['id']}/state"
    refused = await gateway.ask("sato", "POST", path, {"state": "active", "revision": 1})
    assert (gateway.status, refused["error"]["code"]) == (409, "conflict")
    [ticket] = (await gateway.ask("sato", "GET", "/v1/tickets"))["tickets"]
    assert ticket["state"] == "open"


async def test_a_forbidden_step_of_life_is_a_conflict(gateway: Gateway) -> None:
    made = await gateway.ask("sato", "POST", "/v1/entries", ENTRY)
    refused = await gateway.ask(
        "sato", "POST", f"/v1/entries/{made['entry']['id']}/state", {"state": "draft"}
    )
    assert gateway.status == 409
    assert "can't become draft" in refused["error"]["message"]


async def test_entries_are_searched_and_filtered(gateway: Gateway) -> None:
    await gateway.ask("sato", "POST", "/v1/entries", ENTRY)
    japanese = {"phrasings": ["旅券の手数料は？"], "answer": "16,000円です。"}
    await gateway.ask("sato", "POST", "/v1/entries", japanese)
    for params, total in (
        ({}, 2),
        ({"state": "active"}, 1),
        ({"language": "ja"}, 1),
        ({"search": "旅券"}, 1),
        ({"search": "a\x00"}, 0),
    ):
        assert (await gateway.ask("sato", "GET", "/v1/entries", params=params))["total"] == total, params


@pytest.mark.parametrize(
    ("method", "path", "body", "where"),
    [
        ("POST", "/v1/tickets/{ticket}/answer", {}, ["body", "answer"]),
        ("POST", "/v1/tickets/{ticket}/answer", {"answer": ""}, ["body", "answer"]),
        ("POST", "/v1/tickets/{ticket}/answer", {"answer": "x", "kind": "rag"}, ["body", "kind"]),
        ("POST", "/v1/tickets/{ticket}/answer", {"answer": "x", "publsh": True}, ["body", "publsh"]),
        (
            "POST",
            "/v1/tickets/{ticket}/answer",
            {"answer": "x", "phrasings": ["a", 5]},
            ["body", "phrasings", 1],
        ),
        ("POST", "/v1/tickets/{ticket}/answer", {"answer": "x", "language": "fr"}, ["body", "language"]),
        ("POST", "/v1/tickets/{ticket}/answer", [], ["body"]),
        ("GET", "/v1/tickets?state=lost", None, ["query", "state"]),
        ("GET", "/v1/tickets?limit=0", None, ["query", "limit"]),
        ("POST", "/v1/entries", {"answer": "x"}, ["body", "phrasings"]),
        ("POST", "/v1/entries", {"phrasings": [], "answer": "x"}, ["body", "phrasings"]),
        ("POST", "/v1/entries", {**ENTRY, "state": "paused"}, ["body", "state"]),
        ("POST", "/v1/entries", {**ENTRY, "valid_from": "soon"}, ["body", "valid_from"]),
        ("POST", "/v1/entries", {**ENTRY, "sources": ["fees.md"]}, ["body", "sources", 0]),
        ("PATCH", "/v1/entries/e-1", {"answer": "x"}, ["body", "revision"]),
        ("PATCH", "/v1/entries/e-1", {"revision": 1}, ["body"]),
        ("PATCH", "/v1/entries/e-1", {"revision": 1, "answer": None}, ["body", "answer"]),
        ("POST", "/v1/entries/e-1/state", {"state": "gone"}, ["body", "state"]),
        ("POST", "/v1/feedback", {"request_id": "r-1", "verdict": "meh"}, ["body", "verdict"]),
        ("POST", "/v1/feedback", {"verdict": "up"}, ["body", "request_id"]),
        ("POST", "/v1/documents/changed", {"document": "fees.md"}, ["body", "version"]),
        ("POST", "/v1/documents/changed", {"document": "", "version": None}, ["body", "document"]),
        ("POST", "/v1/documents/changed", {"document": "fees.md", "version": ""}, ["body", "version"]),
        ("POST", "/v1/feedback", {"request_id": "\ud83d", "verdict": "up"}, ["body", "request_id"]),
    ],
)
async def test_a_bad_body_is_refused_by_the_name_of_its_field(
    gateway: Gateway, method: str, path: str, body: Any, where: list[object]
) -> None:
    refused = await gateway.ask("admin", method, path.format(ticket=await gateway.ticket()), body)
    assert (gateway.status, refused.get("where")) == (400, where)


@pytest.mark.parametrize(
    "body",
    [
        {"phrasings": ["?!"], "answer": "x"},
        {"phrasings": ["a"], "answer": "nul \x00"},
        {"phrasings": [" "], "answer": "x"},
    ],
)
async def test_what_the_shelf_refuses_is_a_bad_request(gateway: Gateway, body: Any) -> None:
    refused = await gateway.ask("sato", "POST", "/v1/entries", body)
    assert (gateway.status, refused["error"]["code"]) == (400, "invalid_request")
    assert refused["error"]["param"] in ("phrasings", "answer", "question")


@pytest.mark.parametrize("entry_id", ["nothing", "%00", "%ED%A0%80", "x" * 200])
async def test_a_strange_entry_id_is_not_there(gateway: Gateway, entry_id: str) -> None:
    await gateway.ask("sato", "GET", f"/v1/entries/{entry_id}")
    assert gateway.status == 404


async def test_feedback_counts_for_the_entry_that_answered(gateway: Gateway) -> None:
    row = {
        "at": datetime.now(UTC), "tenant": "acme", "request_id": "r-9", "question_hash": "0", "language": "en",
        "outcome": "ground_truth", "reason": "verified_exact", "entry_id": "e-9", "ms": 1.0,
    }  # fmt: skip
    async with gateway.stores.database.begin() as connection:
        await connection.execute(insert(outcomes).values(row))
    body = {"request_id": "r-9", "verdict": "down", "comment": "wrong \x00 year"}
    kept = await gateway.ask("client", "POST", "/v1/feedback", body)
    assert (kept["entry"], kept["known"]) == ("e-9", True)
    elsewhere = await gateway.ask("stranger", "POST", "/v1/feedback", body)
    assert (elsewhere["entry"], elsewhere["known"]) == (None, False)
    strange = await gateway.ask("client", "POST", "/v1/feedback", {"request_id": "\x00", "verdict": "up"})
    assert strange["request_id"] == "�"
    assert (await gateway.ask("client", "POST", "/v1/feedback", {"request_id": "r-0", "verdict": "up"}))[
        "entry"
    ] is None
    async with gateway.stores.database.connect() as connection:
        rows = (await connection.execute(select(feedback_table).order_by(feedback_table.c.id))).all()
    assert [(row.tenant, row.verdict, row.entry_id, row.comment, row.by) for row in rows] == [
        ("acme", "down", "e-9", "wrong � year", "web"),
        ("other", "down", None, "wrong � year", "Stranger"),
        ("acme", "up", None, "", "web"),
        ("acme", "up", None, "", "web"),
    ]
