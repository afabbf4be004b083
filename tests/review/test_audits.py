"""Audited hits: drawn at random beside the way, judged over HTTP, and acted upon when too many were wrong."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import Table, Update, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import CONFIDENCE
from cache.calibration.audit import anytime_upper
from cache.calibration.cuts import PAUSED
from cache.entries import Entry, Source
from cache.indexing import index_pending
from cache.matching import Hit, Match, Miss, NearMiss, Tier
from cache.shelf import Shelf
from cache.store import EntryStore
from classifiers.faithfulness import StatementVerdict, verdict_of
from encoders import encode_one
from evaluation.faithfulness.calibration import reviewed_answers
from gateway.domain import Answered, Draft, Passage, Step
from gateway.errors import SekishoError
from gateway.figures.people import wrong_rag_answers
from gateway.people.access import BootstrapKey, Keys
from gateway.review import audits
from gateway.review.audits import Audits, Judgement, OnBreach, lookups
from gateway.review.audits.lookups import LookupLog, Rates
from gateway.routes import audits as routes
from storage.quick import Quick
from storage.remembered import recall_all, remember
from storage.schema import audit_windows, settings
from storage.schema import audits as table
from storage.sql import Database, DatabaseUnavailable
from storage.testing import MemoryIndex
from tests.cache.shelves import WEIGHTS, WordEncoder, content
from tests.postgres import PostgresServer
from tests.review.asking import question
from tests.review.over_http import over_http

KEYS = {
    "client": BootstrapKey("sk-of-the-client-0001", "acme", "client", "web"),
    "sato": BootstrapKey("sk-of-the-reviewer-0001", "acme", "reviewer", "Sato"),
    "suzuki": BootstrapKey("sk-of-the-reviewer-0002", "acme", "reviewer", "Suzuki"),
    "stranger": BootstrapKey("sk-of-a-stranger-0001", "other", "admin", "Stranger"),
}
MODEL = "words@1"
ALL = Rates(vector=1.0, exact=1.0, first=30)
ENTRY = content(
    "How do I reset my password?",
    "reset the password",
    "password forgotten",
    sources=(Source("login.md", "1"),),
)


@dataclass
class Stores:
    """The real stores, with an index in memory."""

    database: Database
    entries: EntryStore
    index: MemoryIndex
    encoder: WordEncoder

    async def index_pending(self) -> int:
        return await index_pending(self.entries, self.index, self.encoder)


@dataclass
class Services:
    """What these routes need of the gateway."""

    stores: Stores
    audits: Audits
    keys: Keys


@dataclass
class Gateway:
    """A shelf whose hits are audited, and the reviewers' side over HTTP."""

    stores: Stores
    shelf: Shelf
    audits: Audits
    services: Services
    http: httpx2.AsyncClient
    entry: Entry
    judged_by: str = "judge@1"  # who lets answers by RAG out
    status: int = field(default=0)

    def delivering(self, language: str) -> str:
        return f"{self.judged_by}, {language}"

    def log(self, rates: Rates = ALL, *, seed: int = 1) -> LookupLog:
        return LookupLog(
            self.stores.database,
            self.shelf,
            model=MODEL,
            delivering=self.delivering,
            rates=rates,
            on_lost=pytest.fail,
            chance=random.Random(seed),
        )

    async def served(self, *found: Match, rates: Rates = ALL, tenant: str = "acme", seed: int = 1) -> None:
        """Tell the log of lookups, and let it write."""
        log = self.log(rates, seed=seed)
        for one in found:
            log.outcome(outcome(one, tenant=tenant))
        await log.flush()

    def hit(self, score: float = 0.9, *, tier: Tier = "vector", **entry: Any) -> Hit:
        shown = replace(self.entry, **entry)
        return Hit(entry=shown, phrasing=shown.question, tier=tier, score=score, reason="said the test")

    async def ask(self, who: str, method: str, path: str, body: Any = None, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {KEYS[who].key}", "Content-Type": "application/json"}
        given = None if body is None else json.dumps(body)
        reply = await self.http.request(method, path, content=given, headers=headers, **options)
        self.status = reply.status_code
        return reply.json()

    async def open(self, **options: Any) -> list[dict[str, Any]]:
        page = await self.ask(
            "sato", "GET", "/v1/audits", params={"verdict": "open", "limit": 200, **options}
        )
        return list(page["audits"])

    async def judge(self, wrong_below: float, *, limit: int = 10_000) -> None:
        """Sato judges what is open: hits that score less than this are wrong."""
        while (waiting := await self.open()) and limit > 0:
            for audit in waiting[:limit]:
                verdict = "wrong" if audit["score"] < wrong_below else "right"
                await self.audits.judge(audit["id"], tenant="acme", verdict=verdict, by="Sato")  # type: ignore[arg-type]
            limit -= len(waiting)

    async def report(self) -> dict[str, Any]:
        [shelf] = (await self.ask("sato", "GET", "/v1/audits/bound"))["shelves"]
        return dict(shelf)

    async def find(self, text: str) -> Match:
        asked = await encode_one(self.stores.encoder, text)
        return await self.shelf.find(asked, tenant="acme", language="en")


def outcome(found: Match, *, tenant: str = "acme") -> Answered:
    asked = question("How can I get a new password?", tenant=tenant)
    return Answered(
        question=asked, text="…", source="ground_truth", reason="…", steps=(Step("cache", 1.0, found),)
    )


def by_rag(text: str = "Two weeks.", *, tenant: str = "acme") -> Answered:
    """An answer by RAG that was delivered, after the cache had none."""
    asked = question("How long may I keep a book?", tenant=tenant)
    draft = Draft(
        text="Two weeks. Or more.",
        contexts=(Passage(text="Loans end after two weeks.", source="loans.md"),),
        model="m",
    )
    said = StatementVerdict(
        text=text, start=0, end=len(text), state="supported", score=0.7, reason="", judge="j@1"
    )
    verdict = verdict_of([said], judge="j@1")
    steps = Step("cache", 1.0, Miss(reason="…")), Step("rag", 1.0, draft), Step("faithfulness", 1.0, verdict)
    return Answered(question=asked, text=text, source="rag", reason="repaired", verdict=verdict, steps=steps)


@pytest.fixture
async def gateway(database: Database) -> AsyncIterator[Gateway]:
    encoder = WordEncoder()
    stores = Stores(database, EntryStore(database), MemoryIndex(encoder.identity), encoder)
    entry = await stores.entries.create("acme", ENTRY, by="Sato", state="active")
    await stores.index_pending()
    shelf = Shelf(stores.entries, stores.index, encoder, weights=WEIGHTS)
    audits = Audits(database, shelf, model=MODEL, delivering=lambda language: made.delivering(language))
    services = Services(stores, audits, Keys(database, bootstrap=list(KEYS.values())))
    async with over_http(services, routes) as http:
        made = Gateway(stores, shelf, audits, services, http, entry)
        yield made


def on_breach(gateway: Gateway, action: OnBreach) -> None:
    stores, words = gateway.stores, gateway.delivering
    gateway.audits = Audits(stores.database, gateway.shelf, model=MODEL, delivering=words, on_breach=action)
    gateway.services.audits = gateway.audits


async def test_a_reviewer_sees_what_was_asked_and_what_was_answered(gateway: Gateway) -> None:
    await gateway.served(gateway.hit(0.91))
    [audit] = await gateway.open()
    assert (audit["question"], audit["answer"], audit["score"], audit["tier"]) == (
        "How can I get a new password?", "Press “Forgot password”.", 0.91, "vector",
    )  # fmt: skip
    assert (audit["entry_id"], audit["phrasing"], audit["topic"], audit["verdict"]) == (
        gateway.entry.id, "How do I reset my password?", "login.md", "open",
    )  # fmt: skip
    assert audit["at"].endswith("+00:00")


async def test_the_first_hits_are_all_drawn_and_then_a_share(gateway: Gateway) -> None:
    hits = [gateway.hit()] * 1_000
    await gateway.served(*hits[:20], rates=Rates(vector=0.1, first=30))
    await gateway.served(*hits[20:], rates=Rates(vector=0.1, first=30))
    drawn = len(await gateway.open())
    assert 30 + 70 <= drawn <= 30 + 130  # 970 at a tenth
    assert (await gateway.report())["vector"]["hits"] == 1_000


async def test_the_draw_does_not_look_at_the_score(gateway: Gateway) -> None:
    hits = [gateway.hit(0.99), gateway.hit(0.86)] * 600
    await gateway.served(*hits, rates=Rates(vector=0.3, first=0))
    async with gateway.stores.database.connect() as connection:
        drawn = {
            row.score: row.n
            for row in await connection.execute(
                select(table.c.score, func.count().label("n")).group_by(table.c.score)
            )
        }
    assert all(130 <= n <= 230 for n in drawn.values())  # 180 on average, standard deviation 11


async def test_exact_hits_have_a_rate_of_their_own(gateway: Gateway) -> None:
    await gateway.served(
        *[gateway.hit(1.0, tier="exact")] * 300, rates=Rates(vector=1.0, exact=0.1, first=30)
    )
    assert 10 <= len(await gateway.open()) <= 60
    report = await gateway.report()
    assert (report["exact"]["hits"], report["vector"]["hits"], report["requests"]) == (300, 0, 300)


async def test_misses_and_near_misses_count_as_requests_and_failures_do_not(gateway: Gateway) -> None:
    near = NearMiss(entry=gateway.entry, phrasing="x", score=0.7, reason="numbers differ")
    await gateway.served(gateway.hit(), near, Miss(reason="far"), Miss(reason="dead", lookup_failed=True))
    report = await gateway.report()
    assert (report["requests"], report["vector"]["hits"], len(await gateway.open())) == (3, 1, 1)


async def test_nobody_is_shown_more_than_can_be_judged(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "MOST_OPEN", 5)
    await gateway.served(*[gateway.hit()] * 4)
    await gateway.served(*[gateway.hit()] * 4)
    assert len(await gateway.open()) == 5
    assert (await gateway.report())["vector"]["hits"] == 8


async def test_a_dead_store_neither_fails_a_hit_nor_loses_it(postgres: PostgresServer) -> None:
    name = await postgres.create_database()
    database = await Database.open(postgres.url(name))
    encoder = WordEncoder()
    shelf = Shelf(EntryStore(database), MemoryIndex(encoder.identity), encoder, weights=WEIGHTS)
    log = LookupLog(database, shelf, model=MODEL, delivering=str, rates=ALL, on_lost=pytest.fail)
    await postgres.drop_database(name)
    for _ in range(3):
        log.outcome(outcome(Miss(reason="far")))
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            await log.flush()
    await database.close()
    await postgres.execute(f'CREATE DATABASE "{name}"')
    back = await Database.open(postgres.url(name))
    await log.flush()
    async with back.connect() as connection:
        assert await connection.scalar(select(audit_windows.c.lookups)) == 3
    await back.close()
    await database.close()
    await postgres.drop_database(name)


async def test_lookups_whose_commit_was_not_heard_of_are_counted_once(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, commit = gateway.log(), Quick.begin

    @asynccontextmanager
    async def unheard(door: Quick) -> AsyncIterator[AsyncConnection]:
        async with commit(door) as connection:
            yield connection
        raise DatabaseUnavailable("went away with its answer")

    async with gateway.stores.database.begin() as connection:  # by a gateway that has ended
        await remember(connection, {f"{lookups.COUNTED}another": "1"})
        await connection.execute(update(settings).values(updated_at=datetime.now(UTC) - timedelta(days=8)))
    await gateway.served(gateway.hit())  # so that the window is there
    for _ in range(2):
        log.outcome(outcome(gateway.hit()))
        with monkeypatch.context() as away:
            away.setattr(Quick, "begin", unheard)
            with pytest.raises(DatabaseUnavailable):
                await log.flush()
        log.outcome(outcome(gateway.hit()))
        await log.flush()
    report = await gateway.report()
    assert (report["vector"]["hits"], len(await gateway.open())) == (5, 5)
    async with gateway.stores.database.connect() as connection:
        assert f"{lookups.COUNTED}another" not in await recall_all(connection, lookups.COUNTED)


async def test_replicas_that_write_at_once_share_one_window(gateway: Gateway) -> None:
    logs = [gateway.log(seed=seed) for seed in range(4)]
    for log in logs:
        for tenant in ("acme", "other"):
            for _ in range(10):
                log.outcome(outcome(gateway.hit(), tenant=tenant))
    await asyncio.gather(*(log.flush() for log in logs))
    async with gateway.stores.database.connect() as connection:
        windows = (await connection.execute(select(audit_windows))).mappings().all()
    assert [(window["lookups"], window["vector_hits"]) for window in windows] == [(40, 40)] * 2
    assert all(sum(window["drift"]["counts"]) == 40 for window in windows)


async def test_a_verdict_is_given_once_and_says_by_whom(gateway: Gateway) -> None:
    await gateway.served(gateway.hit())
    [audit] = await gateway.open()
    path = f"/v1/audits/{audit['id']}"
    judged = await gateway.ask("sato", "POST", path, {"verdict": "right", "comment": "clear"})
    assert (judged["audit"]["verdict"], judged["audit"]["by"], judged["audit"]["comment"]) == (
        "right",
        "Sato",
        "clear",
    )
    assert judged["audit"]["judged_at"]
    again = await gateway.ask("sato", "POST", path, {"verdict": "right", "comment": "clear"})
    assert again == judged
    refused = await gateway.ask("suzuki", "POST", path, {"verdict": "wrong"})
    assert gateway.status == 409
    assert "already judged right by Sato" in refused["error"]["message"]
    corrected = await gateway.ask("sato", "POST", path, {"verdict": "unsure"})
    assert corrected["audit"]["verdict"] == "unsure"
    settled = await gateway.ask("suzuki", "POST", path, {"verdict": "wrong"})
    assert (gateway.status, settled["audit"]["by"]) == (200, "Suzuki")
    assert not await gateway.open()


async def test_two_reviewers_at_once_and_one_of_them_judges(gateway: Gateway) -> None:
    await gateway.served(gateway.hit())
    [audit] = await gateway.open()
    both = [
        gateway.audits.judge(audit["id"], tenant="acme", verdict="right", by=by) for by in ("Sato", "Suzuki")
    ]
    results = await asyncio.gather(*both, return_exceptions=True)
    assert sum(isinstance(one, SekishoError) for one in results) == 1


async def test_only_who_gave_a_verdict_takes_it_back(gateway: Gateway) -> None:
    await gateway.served(gateway.hit())
    [audit] = await gateway.open()
    given = await gateway.audits.judge(audit["id"], tenant="acme", verdict="wrong", by="Sato")
    with pytest.raises(SekishoError, match="judged wrong by Sato"):
        await gateway.audits.reopen(given.id, tenant="acme", by="Suzuki")
    assert await gateway.audits.count_open(tenant="acme") == 0
    back = await gateway.audits.reopen(given.id, tenant="acme", by="Sato")
    assert (back.verdict, back.by, back.judged_at) == ("open", None, None)
    assert await gateway.audits.count_open(tenant="acme", language="en") == 1
    assert await gateway.audits.count_open(tenant="acme", language="ja") == 0


async def test_audits_come_in_pages(gateway: Gateway) -> None:
    await gateway.served(*[gateway.hit(score) for score in (0.9, 0.91, 0.92)])
    first = await gateway.ask("sato", "GET", "/v1/audits", params={"limit": 2})
    rest = await gateway.ask("sato", "GET", "/v1/audits", params={"limit": 2, "after": first["next"]})
    ids = [audit["id"] for page in (first, rest) for audit in page["audits"]]
    assert (len(ids), len(set(ids)), rest["next"]) == (3, 3, None)


@pytest.mark.parametrize(
    ("who", "method", "path", "body", "status"),
    [
        pytest.param("client", "GET", "", None, 403, id="a client lists"),
        pytest.param("client", "GET", "/bound", None, 403, id="a client reads the bound"),
        pytest.param("client", "POST", "/{id}", {"verdict": "right"}, 403, id="a client judges"),
        pytest.param("stranger", "POST", "/{id}", {"verdict": "right"}, 404, id="another tenant judges"),
        pytest.param("sato", "POST", "/no-such", {"verdict": "right"}, 404, id="no such audit"),
        pytest.param("sato", "POST", "/{id}", {"verdict": "open"}, 400, id="no verdict to give"),
        pytest.param("sato", "POST", "/{id}", {"verdict": "right", "x": 1}, 400, id="an unknown field"),
        pytest.param("sato", "GET", "?verdict=maybe", None, 400, id="an unknown filter"),
        pytest.param("sato", "GET", "?after=no-such", None, 404, id="an unknown place"),
    ],
)
async def test_who_may_not_or_asks_wrongly_is_told(
    gateway: Gateway, who: str, method: str, path: str, body: Any, status: int
) -> None:
    await gateway.served(gateway.hit())
    [audit] = await gateway.open()
    await gateway.ask(who, method, "/v1/audits" + path.format(id=audit["id"]), body)
    assert gateway.status == status
    assert len(await gateway.open()) == 1


async def test_another_tenants_audits_are_not_there(gateway: Gateway) -> None:
    await gateway.served(gateway.hit())
    assert (await gateway.ask("stranger", "GET", "/v1/audits"))["audits"] == []
    assert (await gateway.ask("stranger", "GET", "/v1/audits/bound"))["shelves"] == []


async def test_the_bound_falls_below_the_target_with_enough_right_verdicts(gateway: Gateway) -> None:
    await gateway.served(*[gateway.hit()] * 450, *[Miss(reason="far")] * 1_500)
    before = await gateway.report()
    assert (before["state"], before["wrong_per_request"]["estimate"]) == ("unproven", None)
    await gateway.judge(wrong_below=0.0)
    after = await gateway.report()
    assert after["state"] == "kept"
    assert after["wrong_per_request"]["estimate"] == 0.0
    assert 0 < after["wrong_per_request"]["upper_at_one_look"] < after["wrong_per_request"]["upper"] < 0.01
    assert (after["vector"]["right"], after["vector"]["open"], after["confidence"]) == (450, 0, 0.95)


async def test_every_topic_has_its_own_bound_in_requests_of_the_shelf(gateway: Gateway) -> None:
    cards = gateway.hit(sources=(Source("cards.md", "1"), Source("other.md", "1")))
    bare = gateway.hit(sources=())
    await gateway.served(*[gateway.hit()] * 20, *[cards] * 10, bare, *[Miss(reason="far")] * 69)
    for audit in await gateway.open():
        verdict = "wrong" if audit["topic"] == "cards.md" and audit["score"] == 0.9 else "right"
        await gateway.audits.judge(audit["id"], tenant="acme", verdict=verdict, by="Sato")  # type: ignore[arg-type]
        if verdict == "wrong":
            break
    report = await gateway.report()
    topics = {topic["topic"]: topic for topic in report["topics"]}
    assert report["topics"][0]["topic"] == "cards.md"
    assert topics["cards.md"]["wrong"] == 1
    assert topics["login.md"]["wrong"] == 0
    assert topics["login.md"]["wrong_per_request"]["upper"] < report["wrong_per_request"]["upper"]
    assert topics["cards.md"]["wrong_per_request"]["upper"] == report["wrong_per_request"]["upper"]


async def test_too_many_wrong_raise_the_cut_to_what_the_audits_support(gateway: Gateway) -> None:
    """Of 400 hits the 60 that score below 0.9 are wrong: above most of them all is well."""
    hits = [gateway.hit(0.95)] * 340 + [gateway.hit(0.86 + place / 2_000) for place in range(60)]
    await gateway.served(*hits, *[Miss(reason="far")] * 2_000)
    await gateway.judge(wrong_below=0.9)
    cut = await gateway.shelf.cut("acme", "en")
    assert cut.tightened_from == 0.85
    assert 0.86 < cut.score < 0.89
    report = await gateway.report()
    assert (report["last_breach"]["action"], report["last_breach"]["cut"]) == ("tightened", 0.85)
    assert (report["state"], report["tightened_from"], report["requests"]) == ("unproven", 0.85, 0)
    assert "tightened by the audit" in report["why"]
    assert [one.error_alarm for one in await gateway.audits.reports()] == [True]


async def test_where_the_audits_support_no_cut_meaning_pauses_and_exact_hits_go_on(gateway: Gateway) -> None:
    assert isinstance(await gateway.find("reset password"), Hit)
    await gateway.served(*[gateway.hit()] * 30, *[Miss(reason="far")] * 10)
    await gateway.judge(wrong_below=1.0)
    report = await gateway.report()
    assert (report["state"], report["cut"], report["last_breach"]["action"]) == ("paused", PAUSED, "paused")
    assert not isinstance(await gateway.find("reset password"), Hit)
    exact = await gateway.find("Reset the password")
    assert isinstance(exact, Hit)
    assert exact.tier == "exact"


async def test_a_calibration_takes_the_pause_back_and_begins_to_count_anew(gateway: Gateway) -> None:
    await gateway.served(*[gateway.hit()] * 30)
    await gateway.judge(wrong_below=1.0)
    await gateway.shelf.calibrate("acme", "en")
    report = await gateway.report()
    assert (report["state"], report["tightened_from"], report["requests"]) == ("unproven", None, 0)
    assert report["last_breach"]["action"] == "paused"  # what happened is still told
    again = await gateway.shelf.calibrate("acme", "en")
    assert again.since == report["since"]  # the same score: its evidence goes on


async def test_an_alarm_changes_nothing_but_what_is_said(gateway: Gateway) -> None:
    on_breach(gateway, "alarm")
    await gateway.served(*[gateway.hit()] * 30)
    await gateway.judge(wrong_below=1.0)
    report = await gateway.report()
    assert (report["state"], report["cut"], report["last_breach"]["action"]) == ("breached", 0.85, "alarm")
    assert [one.error_alarm for one in await gateway.audits.reports()] == [True]


async def test_pausing_by_setting_asks_for_no_better_cut(gateway: Gateway) -> None:
    on_breach(gateway, "pause")
    await gateway.served(*[gateway.hit(0.86)] * 20, *[gateway.hit(0.99)] * 400)
    await gateway.judge(wrong_below=0.9, limit=20)
    assert (await gateway.report())["state"] == "paused"


@pytest.mark.parametrize("action", ["paused", "alarm"])
async def test_what_dies_while_it_acts_does_so_with_the_next_verdict(
    gateway: Gateway, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_breach(gateway, "pause" if action == "paused" else "alarm")
    await gateway.served(*[gateway.hit()] * 30)

    def killed(changed: Table) -> Update:
        if changed is audit_windows:
            raise SystemError
        return update(changed)

    with monkeypatch.context() as patch:
        patch.setattr(audits, "update", killed)
        with pytest.raises(SystemError):
            await gateway.judge(wrong_below=1.0)
    await gateway.judge(wrong_below=1.0)
    assert (await gateway.report())["last_breach"]["action"] == action


async def test_a_few_wrong_are_no_proof(gateway: Gateway) -> None:
    await gateway.served(*[gateway.hit()] * 30, *[Miss(reason="far")] * 1_000)
    await gateway.judge(wrong_below=1.0, limit=1)
    report = await gateway.report()
    assert (report["state"], report["cut"], report["vector"]["wrong"]) == ("unproven", 0.85, 1)
    assert report["last_breach"] is None


async def test_verdicts_on_an_older_cut_do_not_touch_the_present_one(gateway: Gateway) -> None:
    await gateway.served(*[gateway.hit()] * 30)
    calibrated = await gateway.shelf.calibrate("acme", "en")
    await gateway.judge(wrong_below=1.0)
    assert await gateway.shelf.cut("acme", "en") == calibrated
    assert (await gateway.report())["vector"]["hits"] == 0


async def test_a_hit_that_an_older_cut_served_is_not_counted_for_the_present_one(gateway: Gateway) -> None:
    await gateway.served(gateway.hit(0.7), gateway.hit(0.9))
    report = await gateway.report()
    assert (report["requests"], report["vector"]["hits"]) == (1, 1)


@pytest.mark.parametrize(
    ("tier", "body", "paused"),
    [
        pytest.param("exact", {}, True, id="its own words, wrong answer"),
        pytest.param("exact", {"pause": False}, False, id="the reviewer keeps it"),
        pytest.param("vector", {}, False, id="a wrong match"),
        pytest.param("vector", {"pause": True}, True, id="the reviewer pauses it"),
    ],
)
async def test_a_wrong_answer_takes_its_entry_off_the_shelf_where_that_is_the_fault(
    gateway: Gateway, tier: Tier, body: dict[str, Any], paused: bool
) -> None:
    await gateway.served(gateway.hit(tier=tier))
    [audit] = await gateway.open()
    reply = await gateway.ask("sato", "POST", f"/v1/audits/{audit['id']}", {"verdict": "wrong", **body})
    assert reply["entry_paused"] is paused
    entry = await gateway.stores.entries.get("acme", gateway.entry.id)
    assert entry.state == ("paused" if paused else "active")
    again = await gateway.ask("sato", "POST", f"/v1/audits/{audit['id']}", {"verdict": "wrong", **body})
    assert (gateway.status, again["entry_paused"]) == (200, False)


async def test_an_entry_that_was_mended_since_stays_on_the_shelf(gateway: Gateway) -> None:
    await gateway.served(gateway.hit(tier="exact"))
    mended = replace(ENTRY, answer="Ask the help desk.")
    await gateway.stores.entries.edit("acme", gateway.entry.id, mended, revision=1, by="Suzuki")
    [audit] = await gateway.open()
    reply = await gateway.ask("sato", "POST", f"/v1/audits/{audit['id']}", {"verdict": "wrong"})
    assert reply["entry_paused"] is False
    assert audit["answer"] == "Press “Forgot password”."  # as it was served


async def test_drift_rings_when_the_questions_change(gateway: Gateway) -> None:
    draw = random.Random(3)
    usual = [gateway.hit(0.9) if draw.random() < 0.7 else Miss(reason="far") for _ in range(600)]
    await gateway.served(*usual, rates=Rates(vector=0, first=0), seed=4)
    assert (await gateway.report())["drift_alarm"] is False
    await gateway.served(*[Miss(reason="far")] * 200, rates=Rates(vector=0, first=0), seed=5)
    assert (await gateway.report())["drift_alarm"] is True


async def test_a_share_of_the_answers_by_rag_is_drawn_with_its_passages(gateway: Gateway) -> None:
    log = gateway.log(Rates(rag=0.2))
    for _ in range(200):
        log.outcome(by_rag())
    await log.flush()
    drawn = await gateway.open()
    assert 20 <= len(drawn) <= 60
    assert (drawn[0]["tier"], drawn[0]["answer"], drawn[0]["topic"]) == ("rag", "Two weeks.", "loans.md"), (
        "as it was delivered, after the repair"
    )
    assert drawn[0]["contexts"] == [{"text": "Loans end after two weeks.", "source": "loans.md", "title": ""}]
    log.outcome(replace(by_rag(), steps=by_rag().steps[1:]))  # depends on earlier turns: not looked up
    await log.flush()
    report = await gateway.report()
    assert (report["requests"], report["rag"]["hits"], report["vector"]["hits"]) == (200, 201, 0)


async def test_verdicts_on_answers_by_rag_bound_their_errors_and_are_labels_of_the_check(
    gateway: Gateway,
) -> None:
    log = gateway.log(Rates(rag=1.0))
    for text in ("Two weeks.", "Three weeks.", "Four weeks.", "Five weeks."):
        log.outcome(by_rag(text))
    await log.flush()
    said: list[dict[str, Any]] = [
        {"verdict": "right"}, {"verdict": "wrong"}, {"verdict": "wrong", "faithful": True}, {"verdict": "unsure"},
    ]  # fmt: skip
    for audit, body in zip(await gateway.open(), said, strict=True):
        judged = await gateway.ask("sato", "POST", f"/v1/audits/{audit['id']}", body)
        assert (gateway.status, judged["entry_paused"]) == (200, False)
    labels = await reviewed_answers(gateway.stores.database, "acme", audited=1.0)
    assert {one.answer: one.faithful for one in labels} == {
        "Two weeks.": True, "Three weeks.": False, "Four weeks.": True,
    }  # fmt: skip
    assert labels[0].contexts == ["Loans end after two weeks."]
    wrong = wrong_rag_answers(await gateway.audits.reports(tenant="acme"), None)
    assert (wrong.answers, wrong.judged, wrong.wrong, wrong.unsure, wrong.estimate) == (4, 4, 2, 1, 0.5)
    assert wrong.upper == anytime_upper(3, 4, 1 - CONFIDENCE)


async def test_verdicts_on_answers_by_rag_say_nothing_of_another_judge(gateway: Gateway) -> None:
    async def judged(verdict: Judgement) -> None:
        log = gateway.log(Rates(rag=1.0))
        log.outcome(by_rag())
        await log.flush()
        [audit] = await gateway.open()
        await gateway.audits.judge(audit["id"], tenant="acme", verdict=verdict, by="Sato")

    async def counted() -> tuple[int, int, int]:
        [report] = await gateway.audits.reports(tenant="acme")
        found = wrong_rag_answers([report], None)
        return report.requests, found.judged, found.wrong

    await judged("wrong")
    assert await counted() == (1, 1, 1)
    gateway.judged_by = "judge@2"
    assert await counted() == (1, 0, 0), "what the cache found is counted on"
    await judged("right")
    assert await counted() == (2, 1, 0)
    gateway.judged_by = "judge@1"  # as another replica, which was not restarted yet
    assert await counted() == (2, 1, 1)


async def test_a_language_that_only_rag_answers_has_a_report(gateway: Gateway) -> None:
    log = gateway.log(Rates(rag=1.0))
    log.outcome(replace(by_rag(), steps=by_rag().steps[1:]))  # depends on earlier turns: not looked up
    await log.flush()
    report = await gateway.report()
    assert (report["requests"], report["rag"]["hits"], report["rag"]["open"]) == (0, 1, 1)


async def test_only_a_wrong_answer_by_rag_can_be_faithful(gateway: Gateway) -> None:
    await gateway.served(gateway.hit())
    [audit] = await gateway.open()
    body = {"verdict": "wrong", "faithful": True}
    refused = await gateway.ask("sato", "POST", f"/v1/audits/{audit['id']}", body)
    assert (gateway.status, refused["error"]["param"]) == (400, "faithful")
