"""The dashboard counts what was asked, by itself, and leads from each figure to its questions."""

from __future__ import annotations

import re

import httpx2
import pytest
from playwright.sync_api import Page, expect

from gateway.console.components.charts import LIGHT
from gateway.console.pages import dashboard
from tests.console.browsing import Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium

QUESTION = "Where can I return books at night?"
WITHIN_MS = 30_000  # a refresh, on a machine that has other things to do


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "REFRESH_S", 0.5)


def verify(desk: Gateway) -> None:
    entry = {
        "phrasings": [QUESTION],
        "answer": "In the box beside the entrance.",
        "state": "active",
        "language": "en",
    }
    with desk.http("reviewer") as reviewer:
        assert reviewer.post("/v1/entries", json=entry).status_code in (201, 409)


def counted(page: Page) -> int:
    """How many answers to the same words the dashboard shows."""
    row = page.locator(".reason", has_text="The same words are verified")
    return int(row.locator(".number").first.inner_text().replace(",", "")) if row.count() else 0


def test_an_answer_from_the_cache_is_counted_live_and_leads_to_its_question_and_entry(
    desk: Gateway, chromium: Chromium
) -> None:
    verify(desk)
    with desk.openai() as client:
        ask = {"model": "sekisho", "messages": [{"role": "user", "content": QUESTION}]}
        reply = client.chat.completions.with_raw_response.create(**ask)
        assert reply.headers["x-sekisho-outcome"] == "ground_truth"
        desk.write()
        with chromium.person(desk.url) as sato:
            page = sato.sign_in(at="/console/dashboard")
            row = page.locator(".reason", has_text="The same words are verified")
            expect(row).to_be_visible(timeout=WITHIN_MS)
            expect(page.locator("main.page")).to_contain_text("Cut where the judge itself cuts")
            before = counted(page)
            client.chat.completions.create(**ask)
            expect(row.locator(".number").first).to_have_text(str(before + 1), timeout=WITHIN_MS)
            expect(page.locator("[data-figure=cache_hits] .figure-value")).to_have_text(
                re.compile(r"^\d+\.\d+%$")
            )
            row.click()
            expect(page.locator("main .title")).to_have_text("Verified · The same words are verified")
            expect(page.locator("tbody tr").first).to_contain_text(f"like: {QUESTION}")
            expect(page.locator("tbody tr")).to_have_count(before + 1)
            page.locator("tbody tr").first.click()
            expect(page).to_have_url(re.compile("/console/entries/[0-9a-f-]{36}"))
            assert sato.foreign == []


def test_a_card_leads_to_the_questions_that_it_counts(desk: Gateway, chromium: Chromium) -> None:
    desk.answer("How do I forge a library card?")
    desk.write()
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/dashboard?days=1")
        card = page.locator("[data-figure=refused]")
        expect(card).to_be_visible(timeout=WITHIN_MS)
        card.click()
        expect(page.locator("main .title")).to_have_text("Refused")
        expect(page.locator("tbody tr").first).to_contain_text("Forbidden · crime")
        page.click("a.back")
        expect(page.locator(".periods .q-btn[aria-pressed=true]")).to_have_text("Today")
        assert (sato.foreign, sato.errors) == ([], [])


def test_where_nobody_asked_yet_the_page_says_so_in_the_readers_language(
    desk: Gateway, chromium: Chromium
) -> None:
    with chromium.person(desk.url, locale="ja-JP") as sato:
        page = sato.sign_in(at="/console/dashboard?language=zh")
        expect(page.get_by_text("この期間の質問はまだありません")).to_be_visible()
        assert (sato.foreign, sato.errors) == ([], [])


def test_an_address_that_makes_no_sense_shows_the_last_week(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/dashboard?days=1000000&language=xx&tenant=other&timezone=Mars")
        expect(page.locator(".periods .q-btn[aria-pressed=true]")).to_have_text("7 days")
        page.goto("/console/questions?figure=happiness")
        expect(page.locator(".told.problem")).to_be_visible()


def test_a_bar_of_the_chart_leads_to_the_questions_of_its_day(desk: Gateway, chromium: Chromium) -> None:
    verify(desk)
    desk.answer(QUESTION)
    desk.write()
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/dashboard")
        expect(page.locator(".reason", has_text="The same words are verified")).to_be_visible(
            timeout=WITHIN_MS
        )
        bars = page.locator(".chart").first.locator(f'svg path[fill="{LIGHT.series["cache_exact"]}"]')
        expect(bars.first).to_be_attached()
        page.wait_for_timeout(600)  # the bars grow
        widest = max((bar.bounding_box() or {} for bar in bars.all()), key=lambda box: box.get("height", 0))
        page.mouse.click(widest["x"] + widest["width"] / 2, widest["y"] + widest["height"] / 2)
        expect(page).to_have_url(re.compile("figure=cache_exact"))
        address = httpx2.URL(page.url).params
        with desk.http("reviewer") as reviewer:
            shown = {name: address[name] for name in ("days", "timezone") if name in address}
            steps = reviewer.get("/v1/figures", params=shown).json()["steps"]
        [counts] = [step["rates"] for step in steps if step["begins"] == address["begins"]]
        expect(page.locator("main .title")).to_have_text(
            f"From the cache, same words · {address['begins'][:10]}"
        )
        expect(page.locator("tbody tr")).to_have_count(counts["cache_exact"]["count"])
        assert sato.errors == []
