"""What was not delivered is seen by an administrator, at the hour of his own clock, and sent again."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from playwright.sync_api import expect

from gateway.delivery.outbox import Delivery
from tests.console.browsing import Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium


async def _undelivered(desk: Gateway, target: str) -> Delivery:
    """A notice that a service refused for good."""
    outbox = desk.services.desk.outbox
    async with desk.services.stores.database.begin() as connection:
        await outbox.put_notice(connection, tenant="default", target=target, body={})
    [held] = await outbox.claim(target, limit=1)
    assert await outbox.failed(held, "HTTP 410", final=True)
    return held


def test_dead_letters_are_counted_on_every_page_and_sent_again(desk: Gateway, chromium: Chromium) -> None:
    first = desk.do(_undelivered(desk, "team-a"))
    desk.do(_undelivered(desk, "team-b"))
    with chromium.person(desk.url, locale="ja-JP", timezone_id="Asia/Tokyo") as boss:
        page = boss.sign_in("boss", at="/console/entries")
        expect(page.locator("nav .alarms")).to_have_text("2")
        page.locator("nav a", has_text="配信").click()
        row = page.locator(f".delivery[data-id='{first.id}']")
        expect(row).to_contain_text("HTTP 410")
        at = row.locator("[title]").first
        expect(at).to_contain_text(f"{first.created_at.astimezone(ZoneInfo('Asia/Tokyo')):%Y-%m-%d %H:%M}")
        expect(at).to_have_attribute("title", f"{first.created_at:%Y-%m-%d %H:%M:%S} UTC")
        row.locator("button.send").click()
        expect(page.locator(".told")).to_contain_text("再送を始めました：1 件")
        expect(page.locator(".deliveries.dead .delivery")).to_have_count(1)
        page.locator("button.send_all").click()
        expect(page.locator(".deliveries.dead")).to_have_count(0)
        expect(page.locator(".deliveries.waiting .delivery")).to_have_count(2)
        assert (boss.foreign, boss.errors) == ([], [])
    waiting = desk.do(desk.services.desk.outbox.list(tenant="default", state="waiting")).items
    assert {one.target for one in waiting} == {"team-a", "team-b"}


def test_a_reviewer_is_told_nothing_of_them(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url) as sato:
        page = sato.sign_in("sato", at="/console/deliveries")
        expect(page.locator("main.page")).to_contain_text("Your role does not allow this")
        expect(page.locator("nav")).not_to_contain_text("Deliveries")
