"""The console on a telephone: nothing is wider than the screen, and a question can be read in the queue."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browsing import Chromium, needs_chromium, opened
from tests.gateway.running import Gateway

pytestmark = needs_chromium

SCREEN = {"width": 390, "height": 844}
PAGES = ["", "entries", "audit", "acceptance", "dashboard", "try", "examples", "users", "deliveries"]


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_wider_than_a_telephone(desk: Gateway, chromium: Chromium, path: str) -> None:
    desk.answer("When does the library open?")
    desk.write()
    with chromium.person(desk.url, viewport=SCREEN) as boss:
        page = boss.sign_in("boss", at=f"/console/{path}")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= SCREEN["width"]


def test_the_heads_of_the_audit_stand_on_one_line(desk: Gateway, chromium: Chromium) -> None:
    desk.answer("When does the library open?")
    desk.write()
    with chromium.person(desk.url, viewport=SCREEN, locale="zh-CN") as sato:
        heads = sato.sign_in(at="/console/audit").locator(".shelves .head")
        expect(heads.first).to_be_visible()
        heights = [box["height"] for head in heads.all() if (box := head.bounding_box())]
    assert heights
    assert max(heights) < 2 * min(heights)


def test_a_question_has_room_in_the_queue(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "Where in the library may I park my bicycle while I read?")
    with chromium.person(desk.url, viewport=SCREEN) as sato:
        box = sato.sign_in().locator(".q-row .question", has_text="park my bicycle").bounding_box()
    assert box is not None, ticket
    assert box["width"] > SCREEN["width"] / 2


def test_the_page_that_is_shown_stands_first_among_its_neighbours(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url, viewport=SCREEN) as boss:
        page = boss.sign_in("boss", at="/console/deliveries")
        here, nav = page.locator(".bar nav a.here").bounding_box(), page.locator(".bar nav").bounding_box()
    assert here is not None
    assert nav is not None
    assert here["x"] + here["width"] <= SCREEN["width"]
    assert nav["width"] > 0.9 * SCREEN["width"]  # and does not share its line with the buttons


def test_what_closes_a_ticket_is_scrolled_with_the_page(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "Where in the library may I park my bicycle while I read?")
    with chromium.person(desk.url, viewport=SCREEN | {"height": 500}) as sato:
        side = sato.sign_in(at=f"/console/tickets/{ticket}").locator(".side")
        expect(side).to_be_visible()
        assert side.evaluate("element => element.scrollHeight - element.clientHeight") == 0
