"""What a reviewer is shown before an entry is served, over HTTP and on the real stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert

from cache.guards import Compared
from cache.matching import Miss, NearMiss
from cache.shelf import Shelf
from cache.store import EntryStore
from cache.trial import Trials
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from encoders import Encoded
from gateway.documents.ingestion import Documents
from gateway.documents.passages import PassageSearch
from gateway.domain import Step
from gateway.people.access import Keys
from gateway.review.entries.approval import Approvals, OnCollision
from gateway.review.entries.rereview import follow_renamed, outdate_and_ask
from gateway.review.tickets import Tickets
from gateway.routes import entries, review, suggestions
from gateway.stores import Stores
from storage.schema import outcomes
from storage.sql import Database
from storage.testing import MemoryIndex
from tests.cache.shelves import WEIGHTS, WordEncoder
from tests.review.asking import ENTRY, question
from tests.review.over_http import over_http
from tests.review.test_routes import KEYS, Gateway, services_over

RESET = {
    "phrasings": ["How do I reset my account password?", "How can I reset my account password?"],
    "answer": "x",
    "state": "active",
}
RIVAL = {"phrasings": ["How do I reset my own account password?"], "answer": "y", "state": "active"}
LOOKED_UP = (Step("cache", 0.5, Miss(reason="nothing close")),)


class NotGuard:
    """Tells “not” from its absence, and nothing else."""

    name = "polarity"

    def veto(self, compared: Compared, /) -> str | None:
        negated = "not" in compared.question.split()
        return None if negated == ("not" in compared.phrasing.split()) else "one of them is negated"


@dataclass
class Desk(Gateway):
    """The routes over real stores."""

    services: Any = None


class NoJudge:
    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        raise AssertionError("these routes read no passage")


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[Desk]:
    encoder = WordEncoder()
    kept, index, passages = EntryStore(database), MemoryIndex(encoder.identity), MemoryIndex(encoder.identity)
    stores = Stores(
        database=database, encoder=encoder, model=encoder, entry_index=index,
        passage_index=passages, passages=PassageSearch(database, passages, encoder.identity), reading=NoJudge(),
        entries=kept,
        documents=Documents(database, index, encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed),
        shelf=Shelf(kept, index, encoder, weights=WEIGHTS, guards=[NotGuard()]), default_language="ja",
    )  # fmt: skip
    keys = Keys(database, bootstrap=list(KEYS.values()))
    tickets = Tickets(database)
    services: Any = services_over(stores, tickets, keys, approvals(stores))
    async with over_http(services, review, entries, suggestions) as http:
        yield Desk(stores, services.tickets, http, services=services)  # type: ignore[arg-type]


def approvals(stores: Stores, on_collision: OnCollision = "warn") -> Approvals:
    trials = Trials(stores.shelf, stores.entries, stores.entry_index, stores.encoder)
    return Approvals(stores.database, trials, stores.encoder, on_collision=on_collision)


def refuse(desk: Desk) -> None:
    desk.services.approvals = approvals(desk.services.stores, "refuse")


async def add(desk: Desk, body: dict[str, Any], **changed: Any) -> Any:
    return await desk.ask("sato", "POST", "/v1/entries", {**body, **changed})


async def ticket(desk: Desk, text: str, *, steps: tuple[Step, ...] = LOOKED_UP, **asked: Any) -> str:
    return await desk.tickets.open(
        question(text, **asked), outcome="escalated", reason="nothing_relevant", steps=steps
    )


async def test_a_preview_shows_what_would_compete_and_keeps_nothing(desk: Desk) -> None:
    made = await add(desk, RESET)
    await ticket(desk, "How do I reset my own account login password?")
    body = {"phrasings": RIVAL["phrasings"]}
    seen = await desk.ask("sato", "POST", "/v1/entries/preview", body)
    [collision] = seen["collisions"]
    assert collision["other"] == {
        "entry": made["entry"]["id"], "question": RESET["phrasings"][0], "phrasing": RESET["phrasings"][0],
    }  # fmt: skip
    assert (collision["phrasing"], collision["would"]) == (RIVAL["phrasings"][0], "answer")
    assert 0.85 < collision["score"] < 1
    assert [one["found"] for one in seen["findable"]] == [False]
    assert (await desk.ask("sato", "GET", "/v1/entries"))["total"] == 1
    assert (await desk.ask("sato", "GET", "/v1/suggestions"))["total"] == 0


@pytest.mark.parametrize(
    ("body", "param"),
    [({"phrasings": ["?!"]}, "phrasings"), ({"phrasings": ["x" * 1_999 + "\x01"]}, "phrasings")],
)
async def test_a_preview_of_what_can_be_no_entry_names_the_field(
    desk: Desk, body: dict[str, Any], param: str
) -> None:
    refused = await desk.ask("sato", "POST", "/v1/entries/preview", body)
    assert (desk.status, refused["error"]["param"]) == (400, param)


async def test_each_way_to_being_served_shows_the_review(desk: Desk) -> None:
    first = await add(desk, RESET)
    assert first["review"]["collisions"] == []
    assert [one["found"] for one in first["review"]["findable"]] == [True, True]
    draft = await add(desk, RIVAL, state="draft")
    assert draft["review"] is None
    path = f"/v1/entries/{draft['entry']['id']}"
    active = await desk.ask("sato", "POST", f"{path}/state", {"state": "active"})
    assert [one["would"] for one in active["review"]["collisions"]] == ["answer"]
    far = {"revision": 2, "phrasings": ["Which wine goes with fish?"]}
    edited = await desk.ask("sato", "PATCH", path, far)
    assert edited["review"]["collisions"] == []
    back = {"revision": 3, "phrasings": ["How do I reset my shop account password?"]}
    assert len((await desk.ask("sato", "PATCH", path, back))["review"]["collisions"]) == 1
    paused = await desk.ask("sato", "POST", f"{path}/state", {"state": "paused"})
    assert paused["review"] is None
    waiting = await ticket(desk, RIVAL["phrasings"][0])
    body = {"answer": "z", "publish": True}
    published = await desk.ask("sato", "POST", f"/v1/tickets/{waiting}/answer", body)
    assert [one["other"]["entry"] for one in published["review"]["collisions"]] == [first["entry"]["id"]]
    again = await desk.ask("sato", "POST", f"/v1/tickets/{waiting}/answer", body)
    assert (desk.status, again["review"]) == (200, None)


async def test_where_collisions_are_refused_the_rival_is_named_and_nothing_is_kept(desk: Desk) -> None:
    first = (await add(desk, RESET))["entry"]["id"]
    draft = (await add(desk, RIVAL, state="draft"))["entry"]
    waiting = await ticket(desk, RIVAL["phrasings"][0])
    refuse(desk)
    for method, path, body in (
        ("POST", "/v1/entries", RIVAL),
        ("POST", f"/v1/entries/{draft['id']}/state", {"state": "active"}),
        ("POST", f"/v1/tickets/{waiting}/answer", {"answer": "z", "publish": True}),
    ):
        refused = await desk.ask("sato", method, path, body)
        assert (desk.status, refused["error"]["param"]) == (409, "phrasings"), path
        assert f"entry {first} (“{RESET['phrasings'][0]}”) would answer" in refused["error"]["message"]
        assert "accept_collisions" in refused["error"]["message"]
    assert [one.id for one in await desk.stores.entries.served("acme", "en")] == [first]
    polled = await desk.ask("client", "GET", f"/v1/tickets/{waiting}")
    assert polled["answer"] is None
    accepted = await desk.ask(
        "sato", "POST", f"/v1/entries/{draft['id']}/state", {"state": "active", "accept_collisions": True}
    )
    assert (desk.status, accepted["entry"]["state"]) == (200, "active")


async def test_what_a_guard_tells_apart_is_not_refused(desk: Desk) -> None:
    await add(desk, RESET)
    refuse(desk)
    negated = await add(desk, RESET, phrasings=["How do I not reset my account password?"])
    assert desk.status == 201
    assert [one["would"] for one in negated["review"]["collisions"]] == ["be_held_back"]
    assert "polarity" in negated["review"]["collisions"][0]["says"]


async def test_a_dead_index_leaves_an_entry_unreviewed_and_refuses_where_rivals_are_refused(
    desk: Desk,
) -> None:
    desk.services.stores.entry_index.fail()
    made = await add(desk, RESET)
    assert (desk.status, made["indexed"], made["review"]) == (201, False, None)
    await desk.ask("sato", "POST", "/v1/entries/preview", {"phrasings": ["anything"]})
    assert desk.status == 503
    refuse(desk)
    await add(desk, RIVAL)
    assert desk.status == 503
    assert (await desk.ask("sato", "GET", "/v1/entries"))["total"] == 1


async def test_the_pairs_of_a_shelf_and_of_an_entry_are_listed(desk: Desk) -> None:
    first = (await add(desk, RESET))["entry"]["id"]
    rival = (await add(desk, RIVAL))["entry"]["id"]
    await add(desk, RESET, phrasings=["How do I not reset my account password?"])
    await add(desk, RESET, phrasings=["図書館は何時に開きますか"])
    whole = await desk.ask("sato", "GET", "/v1/entries/collisions")
    assert {whole["collisions"][0]["entry"], whole["collisions"][0]["other"]["entry"]} == {first, rival}
    assert whole["counts"]["answer"] == 1
    assert sum(whole["counts"].values()) == len(whole["collisions"])
    short = await desk.ask("sato", "GET", "/v1/entries/collisions", params={"limit": 1})
    assert (len(short["collisions"]), short["counts"]) == (1, whole["counts"])
    japanese = await desk.ask("sato", "GET", "/v1/entries/collisions", params={"language": "ja"})
    assert japanese["collisions"] == []
    one = await desk.ask("sato", "GET", f"/v1/entries/{rival}/collisions")
    assert one["collisions"][0]["other"]["entry"] == first
    nobodys = await desk.ask("stranger", "GET", "/v1/entries/collisions")
    assert nobodys["collisions"] == []
    await desk.ask("stranger", "GET", f"/v1/entries/{rival}/collisions")
    assert desk.status == 404
    for path in ("/v1/entries/collisions", f"/v1/entries/{rival}/collisions", "/v1/suggestions"):
        await desk.ask("client", "GET", path)
        assert desk.status == 403, path


async def recorded(desk: Desk, request: str, text: str, **changed: Any) -> None:
    row = {
        "at": datetime.now(UTC), "tenant": "acme", "request_id": request, "question_hash": "0",
        "question": text, "language": "en", "outcome": "rag", "reason": "supported",
        "stage_ms": {"gate": 1.0, "cache": 1.0}, "ms": 1.0,
    } | changed  # fmt: skip
    async with desk.stores.database.begin() as connection:
        await connection.execute(insert(outcomes).values(row))


async def test_past_questions_become_suggestions_with_where_they_came_from(desk: Desk) -> None:
    made = await add(desk, RESET, state="draft")
    kept = await desk.stores.entries.get("acme", made["entry"]["id"])
    near = NearMiss(entry=kept, phrasing="x", score=0.6, reason="score 0.600 is below the cut 0.850")
    await ticket(desk, "Please reset my account password", steps=(Step("cache", 0.5, near),))
    other = NearMiss(entry=ENTRY, phrasing="x", score=0.6, reason="below")
    await ticket(desk, "How do I reset my staff account password?", steps=(Step("cache", 0.5, other),))
    await ticket(desk, "How do I reset my old account password?", steps=())  # it leaned on earlier turns
    await ticket(desk, "How do I reset my bank account password?", tenant="other")
    for request in ("r-1", "r-2", "r-3"):  # r-1 is also the ticket's
        await recorded(desk, request, "How do I reset my staff account password?")
    await recorded(desk, "r-4", "How do I reset my shop account password?")
    await recorded(desk, "r-5", "How do I reset my work account password?", stage_ms={"gate": 1.0})
    await recorded(desk, "r-6", "How do I reset my club account password?", tier="vector")
    path = f"/v1/entries/{made['entry']['id']}/state"
    seen = (await desk.ask("sato", "POST", path, {"state": "active"}))["review"]["suggestions"]
    told = [(one["text"], one["times"], one["source"]) for one in seen]
    assert told[0] == ("How do I reset my staff account password?", 3, "ticket")
    assert set(told[1:]) == {
        ("How do I reset my shop account password?", 1, "asked"),
        ("Please reset my account password", 1, "near_miss"),
    }
    assert (await desk.ask("sato", "GET", "/v1/suggestions", params={"state": "open"}))["total"] == 3


async def suggest(desk: Desk, text: str) -> Any:
    found = (await desk.stores.entries.served("acme", "en"))[0]
    kept = desk.services.approvals.suggestions
    return await kept.add(found, text, source="accepted", by="web")


async def test_an_accepted_suggestion_is_a_phrasing_in_a_new_revision(desk: Desk) -> None:
    made = await add(desk, RESET)
    suggestion = await suggest(desk, "I lost my password")
    path = f"/v1/suggestions/{suggestion.id}"
    for _ in range(2):  # a repeat changes nothing
        done = await desk.ask("suzuki", "POST", path, {"state": "accepted"})
        assert (desk.status, done["suggestion"]["state"], done["indexed"]) == (200, "accepted", True)
        assert done["entry"]["phrasings"] == [*RESET["phrasings"], "I lost my password"]
        assert done["entry"]["revision"] == 2
    history = await desk.ask("sato", "GET", f"/v1/entries/{made['entry']['id']}/history")
    assert [(one["change"], one["by"]) for one in history["history"]] == [
        ("created", "Sato"), ("edited", "Suzuki"),
    ]  # fmt: skip
    refused = await desk.ask("sato", "POST", path, {"state": "rejected"})
    assert (desk.status, refused["error"]["message"].endswith("already accepted by Suzuki")) == (409, True)


async def test_a_rejected_suggestion_changes_no_entry(desk: Desk) -> None:
    await add(desk, RESET)
    suggestion = await suggest(desk, "I lost my password")
    done = await desk.ask("sato", "POST", f"/v1/suggestions/{suggestion.id}", {"state": "rejected"})
    assert (done["suggestion"]["state"], done["entry"]["revision"], done["review"]) == ("rejected", 1, None)
    await desk.ask("sato", "POST", f"/v1/suggestions/{suggestion.id}", {"state": "accepted"})
    assert desk.status == 409
    assert (await desk.stores.entries.served("acme", "en"))[0].revision == 1


async def test_a_suggestion_that_would_compete_is_refused_like_any_edit(desk: Desk) -> None:
    await add(desk, RESET)
    await add(desk, RESET, phrasings=["Where is the bank?"])
    served = {one.question: one for one in await desk.stores.entries.served("acme", "en")}
    kept = desk.services.approvals.suggestions
    made = await kept.add(
        served["Where is the bank?"], "How do I reset my own account password?", source="accepted", by="web"
    )
    refuse(desk)
    path = f"/v1/suggestions/{made.id}"
    await desk.ask("sato", "POST", path, {"state": "accepted"})
    assert desk.status == 409
    assert (await kept.get("acme", made.id)).state == "open"
    done = await desk.ask("sato", "POST", path, {"state": "accepted", "accept_collisions": True})
    assert (desk.status, len(done["entry"]["phrasings"])) == (200, 2)


async def test_a_suggestion_of_another_tenant_is_not_there(desk: Desk) -> None:
    await add(desk, RESET)
    suggestion = await suggest(desk, "I lost my password")
    await desk.ask("stranger", "POST", f"/v1/suggestions/{suggestion.id}", {"state": "rejected"})
    assert desk.status == 404
    await desk.ask("client", "POST", f"/v1/suggestions/{suggestion.id}", {"state": "rejected"})
    assert desk.status == 403
    assert (await desk.ask("stranger", "GET", "/v1/suggestions"))["total"] == 0
