"""A blind acceptance test, judged by keys in the browser."""

from __future__ import annotations

from playwright.sync_api import expect

from gateway.review.acceptance_tests import AcceptanceTests, Pair, Vote, commitment_of
from tests.console.browsing import Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium

PAIRS = tuple(
    Pair(
        number=number,
        case_id=f"c{number}",
        language="en",
        question=f"What is the fee for item {number}?",
        left=f"It is {number} euros.",
        right=f"The fee is {number}.00 euros; pay it at the desk.",
    )
    for number in (1, 2, 3)
)


def _votes(desk: Gateway, store: AcceptanceTests, test: str) -> tuple[Vote, ...]:
    return desk.do(store.votes(test, tenant="default"))


def test_who_has_no_test_yet_reads_how_to_make_one_and_a_wrong_address_where_the_tests_are(
    desk: Gateway, chromium: Chromium
) -> None:
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/acceptance")
        expect(page.locator(".empty")).to_contain_text("No blind test yet")
        expect(page.locator(".empty")).to_contain_text("sekisho acceptance create")
        page.goto("/console/acceptance/none-of-ours")
        expect(page.locator(".empty")).to_contain_text("There is no such test")
        expect(page.locator(".empty")).to_contain_text("page Acceptance")


def test_pairs_are_judged_by_keys_and_the_last_one_again(desk: Gateway, chromium: Chromium) -> None:
    store = AcceptanceTests(desk.services.stores.database)
    commitment = commitment_of(PAIRS, margin=0.1, key="k")
    create = store.create(
        PAIRS, tenant="default", name="Spring", margin=0.1, commitment=commitment, by="boss"
    )
    test = desk.do(create)
    order = [one.number for one in desk.do(store.left_to(test, tenant="default", by="sato"))]
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/acceptance")
        page.get_by_role("link", name="Spring").click()
        card = page.locator(".acceptance-now section")
        expect(card).to_have_attribute("data-number", str(order[0]))
        assert "gateway" not in card.inner_text().lower()
        page.keyboard.press("1")
        expect(card).to_have_attribute("data-number", str(order[1]))
        page.keyboard.press("w")
        expect(card.locator(".side-right .q-checkbox")).to_have_attribute("aria-checked", "true")
        page.keyboard.press("0")
        expect(card).to_have_attribute("data-number", str(order[2]))
        page.keyboard.press("z")
        expect(card).to_have_attribute("data-number", str(order[1]))
        page.keyboard.press("2")
        expect(card).to_have_attribute("data-number", str(order[2]))
        given = [(vote.number, vote.better, vote.critical) for vote in _votes(desk, store, test)]
        assert given == [(order[0], "left", ()), (order[1], "same", ("right",)), (order[1], "right", ())]
        page.keyboard.press("1")
        expect(page.locator(".acceptance-now")).to_contain_text("You have judged all pairs")
        desk.do(store.close(test, tenant="default"))
        page.reload()
        expect(page.locator(".acceptance-now")).to_contain_text("Over")
