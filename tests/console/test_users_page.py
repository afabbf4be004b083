"""What administrators do at the console: people, keys, and what the gate may learn."""

from __future__ import annotations

from playwright.sync_api import expect

from gateway.review.gate_examples import Proposal
from tests.console.browsing import PASSWORDS, Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium


def test_an_administrator_adds_and_disables_a_user(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url) as boss, chromium.person(desk.url) as kato:
        page = boss.sign_in("boss", at="/console/users")
        page.locator(".new-name input").fill("kato")
        page.locator(".new-password input").fill(PASSWORDS["viewer"])
        page.locator("button.add-user").click()
        row = page.locator(".person[data-name=kato]")
        expect(row).to_contain_text("Reviewer")
        other = kato.page
        other.goto("/console/entries")
        other.fill("input[name=name]", "kato")
        other.fill("input[name=password]", PASSWORDS["viewer"])
        other.click("form button")
        expect(other.locator("nav")).to_be_visible()
        expect(other.locator("nav")).not_to_contain_text("Users and keys")
        other.goto("/console/users")
        expect(other.locator("main.page")).to_contain_text("Your role does not allow this")
        row.locator("button.disable").click()
        page.locator(".sheet button.danger").click()
        expect(row).to_contain_text("Disabled")
        other.goto("/console/entries")
        expect(other.locator("input[name=password]")).to_be_visible()
        assert boss.errors == []


def test_what_is_wrong_with_a_new_user_is_said_in_the_language_of_the_page(
    desk: Gateway, chromium: Chromium
) -> None:
    with chromium.person(desk.url, locale="ja-JP") as boss:
        page = boss.sign_in("boss", at="/console/users")
        page.locator(".new-name input").fill("yamamoto")
        page.locator(".new-password input").fill("短い")
        page.locator("button.add-user").click()
        expect(page.locator(".told")).to_contain_text("10文字以上")
        page.locator(".new-name input").fill("sato")
        page.locator("button.add-user").click()
        expect(page.locator(".told").last).to_contain_text("パスワードを空欄に")


def test_a_key_is_shown_once_and_is_useless_once_revoked(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url) as boss:
        page = boss.sign_in("boss", at="/console/users")
        page.locator(".key-label input").fill("the website")
        page.locator("button.make-key").click()
        key = page.locator(".key-value").inner_text()
        with desk.http(key=key) as client:
            assert client.get("/v1/models").status_code == 200
        page.reload()
        row = page.locator(".key-record", has_text="the website")
        expect(row).to_be_visible()
        assert key not in page.content()
        row.locator("button.revoke").click()
        page.locator(".sheet button.danger").click()
        expect(row).to_contain_text("Revoked")
        with desk.http(key=key) as client:
            assert client.get("/v1/models").status_code == 401


def test_an_example_that_contradicts_the_policy_is_asked_about(desk: Gateway, chromium: Chromium) -> None:
    examples = desk.services.gatekeeping.examples
    one = desk.do(
        examples.propose(Proposal(tenant="default", label="must", by="sato"), "How do I bake bread?")
    )
    with chromium.person(desk.url) as sato:
        page = sato.sign_in("sato", at="/console/examples")
        expect(page.locator(f".example[data-id='{one.id}']")).to_contain_text("The policy has these words as")
        expect(page.locator("button.accept")).to_have_count(0)
        expect(page.locator(".shadow")).to_contain_text("Nothing was judged by a rule in shadow")
    with chromium.person(desk.url) as boss:
        page = boss.sign_in("boss", at="/console/examples")
        card = page.locator(f".example[data-id='{one.id}']")
        card.locator("button.accept").click()
        page.locator(".sheet .q-btn").first.click()
        expect(card).to_be_visible()
        card.locator("button.reject").click()
        expect(page.locator(".told")).to_contain_text("Rejected")
    assert desk.do(examples.get("default", one.id)).state == "rejected"
