"""Judging answers that were served, a key each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import delete

from cache.entries import Entry
from cache.store.content import Content
from gateway.checking.delivering import Delivering
from gateway.domain import Answered, Conversation, Draft, Passage, Question, Step, Turn
from gateway.review.audits.lookups import LookupLog, Rates
from gateway.review.audits.windows import ShelfReport
from storage.schema import audits
from storage.sql import DatabaseUnavailable
from tests.console.browsing import Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium

QUESTIONS = {
    "Where does the library keep its old maps?": "Where are the library's old maps kept?",
    "May I bring my dog into the library?": "Can I bring my dog into the library?",
    "Does the library lend headphones?": "Does the library lend out headphones?",
}
PLANTS = {
    "May I bring my own plants into the library?": "Can I bring plants of my own into the library?",
    "Who waters the plants in the library?": "Who is it that waters the plants in the library?",
    "Does the library have a seed bank?": "Has the library got a seed bank?",
}
MAPS = {
    "Can I borrow a map of the mountains at the library?": "Is it possible to borrow a map of the mountains at the library?",
    "Who draws the maps on the library's wall?": "Who is it that draws the maps on the library's wall?",
    "Does the library keep old sea charts?": "Does the library keep any old sea charts?",
}
STAMPS = {
    "Where can I have my parking ticket stamped at the library?": "Where can I get my parking ticket stamped at the library?",
    "Is there a stamp collectors' club at the library?": "Does the library have a club of stamp collectors?",
    "Does the library sell postage stamps?": "Does the library sell stamps for postage?",
}
COINS = {
    "Can I pay the library's fines in coins?": "Is it possible to pay the library's fines in coins?",
    "Does the library change banknotes into coins?": "Will the library change banknotes into coins?",
    "Is there a coin collection in the library?": "Does the library have a coin collection?",
}


def _published(desk: Gateway, question: str) -> Entry:
    content = Content(kind="ground_truth", language="en", phrasings=(question,), answer=f"Answer: {question}")
    entry = desk.do(desk.services.stores.entries.create("default", content, by="boss", state="active"))
    desk.do(desk.services.stores.index_pending())
    return entry


def _served(desk: Gateway, questions: Mapping[str, str]) -> tuple[Any, ...]:
    """The English audits that wait: of these questions, each asked in other words, and of tests before."""
    for question in questions:
        _published(desk, question)
    for asked in questions.values():
        assert desk.answer(asked)["outcome"] == "ground_truth"
    desk.write()
    waiting = desk.services.audits.list(tenant="default", verdict="open", language="en", limit=200)
    return desk.do(waiting).items


def test_answers_are_judged_by_keys_and_a_verdict_can_be_taken_back(
    desk: Gateway, chromium: Chromium
) -> None:
    waiting = _served(desk, QUESTIONS)
    assert len(waiting) >= len(QUESTIONS)
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/audit?language=en")
        card = page.locator(".audit")
        for key, audit in zip("yn", waiting, strict=False):
            expect(card).to_have_attribute("data-id", audit.id)
            expect(card.locator(".big-question")).to_have_text(audit.question)
            page.keyboard.press(key)
        expect(card).to_have_attribute("data-id", waiting[2].id)
        expect(page.locator(".told")).to_contain_text("Judged wrong")
        expect(page.locator(".told .undo")).to_have_css("color", "rgb(185, 204, 245)")  # light on dark
        assert [_verdict(desk, one.id) for one in waiting[:3]] == ["right", "wrong", "open"]
        page.keyboard.press("z")
        expect(card).to_have_attribute("data-id", waiting[1].id)
        assert _verdict(desk, waiting[1].id) == "open"
        page.keyboard.press("u")
        expect(card).to_have_attribute("data-id", waiting[2].id)
        reports = desk.do(desk.services.audits.reports(tenant="default"))
        [report] = [one for one in reports if one.language == "en"]
        assert (report.vector.right, report.vector.wrong, report.vector.unsure) == (1, 0, 1)
        shown = f"{report.wrong_per_request.upper:.1%}"
        expect(page.locator(".bound .upper[data-language=en]")).to_have_text(shown)
        assert sato.errors == []


def test_a_key_counts_as_soon_as_the_next_card_shows(
    desk: Gateway, chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the bound below it takes to reckon."""
    first, second, *_ = _served(desk, STAMPS)
    reports = desk.services.audits.reports

    async def slow(**wanted: Any) -> tuple[ShelfReport, ...]:
        await asyncio.sleep(1)
        return await reports(**wanted)

    monkeypatch.setattr(desk.services.audits, "reports", slow)
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/audit?language=en")
        card = page.locator(".audit")
        for audit in (first, second):
            expect(card).to_have_attribute("data-id", audit.id)
            page.keyboard.press("y")
        expect(card).not_to_have_attribute("data-id", second.id)
        assert [_verdict(desk, one.id) for one in (first, second)] == ["right", "right"]
        assert sato.errors == []


@pytest.mark.parametrize(("read", "questions"), [("reports", PLANTS), ("list", MAPS)])
def test_what_could_not_be_shown_is_not_judged(
    desk: Gateway,
    chromium: Chromium,
    monkeypatch: pytest.MonkeyPatch,
    read: str,
    questions: Mapping[str, str],
) -> None:
    """A key pressed while the card before still stands there only shows the next one."""
    first, second, *_ = _served(desk, questions)
    reading, broken = getattr(desk.services.audits, read), [False, True]

    async def breaking_once(**wanted: Any) -> Any:
        if broken and broken.pop(0):
            raise DatabaseUnavailable("the database went away")
        return await reading(**wanted)

    monkeypatch.setattr("gateway.console.pages.audit.AHEAD", 1)
    monkeypatch.setattr(desk.services.audits, read, breaking_once)
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/audit?language=en")
        card = page.locator(".audit")
        expect(card).to_have_attribute("data-id", first.id)
        page.keyboard.press("y")
        expect(page.locator(".told.problem")).to_be_visible()
        expect(card).to_have_attribute("data-id", first.id)
        page.keyboard.press("y")
        expect(card).to_have_attribute("data-id", second.id)
        assert [_verdict(desk, one.id) for one in (first, second)] == ["right", "open"]
        page.keyboard.press("n")
        expect(card).not_to_have_attribute("data-id", second.id)
        assert _verdict(desk, second.id) == "wrong"


def test_an_audit_that_is_erased_meanwhile_holds_up_none_that_follow(
    desk: Gateway, chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = _served(desk, COINS)
    monkeypatch.setattr("gateway.console.pages.audit.AHEAD", 1)
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/audit?language=en")
        card = page.locator(".audit")
        expect(card).to_have_attribute("data-id", first.id)
        desk.do(_erase(desk, first.id))
        page.keyboard.press("y")
        expect(page.locator(".told")).to_contain_text("was erased meanwhile")
        expect(card).to_have_attribute("data-id", second.id)
        page.keyboard.press("y")
        expect(card).not_to_have_attribute("data-id", second.id)
        assert _verdict(desk, second.id) == "right"


def test_an_answer_by_rag_is_judged_beside_its_passages(desk: Gateway, chromium: Chromium) -> None:
    stores = desk.services.stores
    log = LookupLog(
        stores.database,
        stores.shelf,
        model=stores.shelf.made_for,
        delivering=Delivering(desk.services.settings, stores.encoder.identity, desk.services.judge),
        rates=Rates(rag=1.0),
        on_lost=print,
    )
    passages = (Passage(text="書庫は火曜に休みます。", source="ja/archive.md"),)
    asked = Question(
        text="書庫の休みはいつですか",
        language="ja",
        conversation=Conversation(turns=(Turn("user", "…"),), tenant="default", request_id="of-the-archive"),
    )
    draft = Draft(text="火曜です。", contexts=passages, model="m")
    log.outcome(
        Answered(
            question=asked,
            text=draft.text,
            source="rag",
            reason="supported",
            steps=(Step("rag", 1.0, draft),),
        )
    )
    desk.do(log.flush())
    with chromium.person(desk.url, locale="ja-JP") as sato:
        page = sato.sign_in(at="/console/audit?language=ja")
        card = page.locator(".audit")
        expect(card).to_contain_text("チャットボットの回答")
        card.locator("summary").click()
        expect(card).to_contain_text("書庫は火曜に休みます。")
        page.keyboard.press("m")
        expect(page.locator(".told")).to_contain_text("資料が不適切")
        expect(page.locator(".rag-bound")).to_contain_text("1 件を判定")
        assert sato.errors == []
    [judged] = desk.do(desk.services.audits.list(tenant="default", language="ja")).items
    assert (judged.verdict, judged.faithful) == ("wrong", True)


async def _erase(desk: Gateway, audit_id: str) -> None:
    """As an erasure of their asker does to audits that wait."""
    async with desk.services.stores.database.begin() as connection:
        await connection.execute(delete(audits).where(audits.c.id == audit_id))


def _verdict(desk: Gateway, audit_id: str) -> str:
    found = desk.do(desk.services.audits.list(tenant="default", limit=200)).items
    return next(one.verdict for one in found if one.id == audit_id)
