"""Who gets into the console."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from structlog.testing import capture_logs

from tests.console.browsing import PASSWORDS, Chromium, needs_chromium
from tests.gateway.running import Gateway
from tests.identity_provider import IdentityProvider

pytestmark = needs_chromium


def test_a_reviewer_signs_in_and_out_again(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url) as sato:
        page = sato.sign_in()
        expect(page.locator("nav a.here")).to_have_text(re.compile("Queue"))
        page.click(".who")
        page.get_by_text("Sign out").click()
        expect(page).to_have_url(re.compile("/console/sign-in"))
        page.goto("/console/")
        expect(page).to_have_url(re.compile("/console/sign-in"))
        assert sato.foreign == []
        assert sato.errors == []


def test_the_identity_provider_lets_a_reviewer_in(
    desk: Gateway, chromium: Chromium, identity_provider: IdentityProvider
) -> None:
    identity_provider.claims = {"sub": "7", "preferred_username": "tanaka", "groups": ["helpdesk"]}
    with chromium.person(desk.url, locale="ja-JP") as tanaka:
        page = tanaka.page
        page.goto("/console/")
        page.get_by_role("link", name="会社のアカウント でサインイン").click()
        expect(page.locator("header .who")).to_contain_text("tanaka")
        page.click(".who")
        expect(page.locator(".whoami")).to_contain_text("担当者")


def test_whom_the_identity_provider_gives_no_role_stays_outside(
    desk: Gateway, chromium: Chromium, identity_provider: IdentityProvider
) -> None:
    identity_provider.claims = {"sub": "8", "preferred_username": "guest", "groups": []}
    with chromium.person(desk.url) as guest:
        guest.page.goto("/console/oidc/start")
        expect(guest.page.get_by_role("alert")).to_contain_text("no role here")
        assert "sekisho_session" not in {one.get("name") for one in guest.page.context.cookies()}


def test_who_was_disabled_is_told_so_by_the_form(
    desk: Gateway, chromium: Chromium, identity_provider: IdentityProvider
) -> None:
    identity_provider.claims = {"sub": "11", "preferred_username": "mori", "groups": ["helpdesk"]}
    with chromium.person(desk.url) as mori:
        mori.page.goto("/console/oidc/start")
        expect(mori.page.locator("header .who")).to_contain_text("mori")
        desk.do(desk.services.people.users.disable("mori"))
        mori.page.goto("/console/oidc/start")
        expect(mori.page.get_by_role("alert")).to_contain_text("disabled")


@pytest.mark.parametrize(
    ("subject", "name", "reason"),
    [
        pytest.param("9", "sato", "another user is called sato", id="another user's"),
        pytest.param("10", "ta\x00naka", "a user's name has 1 to 200 printable characters", id="no name"),
    ],
)
def test_whose_name_can_not_be_theirs_stays_outside_and_the_log_says_why(
    desk: Gateway,
    chromium: Chromium,
    identity_provider: IdentityProvider,
    subject: str,
    name: str,
    reason: str,
) -> None:
    identity_provider.claims = {"sub": subject, "preferred_username": name, "groups": ["helpdesk"]}
    with chromium.person(desk.url) as outsider, capture_logs() as logs:
        outsider.page.goto("/console/oidc/start")
        expect(outsider.page.get_by_role("alert")).to_be_visible()
    assert [one["reason"] for one in logs if one["event"] == "sign-in failed"] == [reason]


def test_a_wrong_password_is_told_and_lets_nobody_in(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url, locale="ja-JP") as stranger:
        page = stranger.page
        page.goto("/console/")
        page.fill("input[name=name]", "boss")
        page.fill("input[name=password]", PASSWORDS["sato"])
        page.click("form button")
        expect(page.get_by_role("alert")).to_have_text("ユーザー名またはパスワードが正しくありません。")
        assert "sekisho_session" not in [cookie["name"] for cookie in page.context.cookies()]
