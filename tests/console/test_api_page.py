"""`/docs` shows every operation to whoever has no way to the internet, and runs nobody else's scripts."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.console.browsing import Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium


def _cut_off(page: Page, origin: str) -> None:
    def answer(route: Route) -> None:
        route.continue_() if route.request.url.startswith(origin) else route.abort()

    page.context.route("**/*", answer)


def test_the_page_of_the_api_needs_nothing_from_elsewhere(desk: Gateway, chromium: Chromium) -> None:
    with desk.http(None) as http:
        paths = http.get("/openapi.json").json()["paths"]
    with chromium.person(desk.url) as visitor:
        page = visitor.page
        _cut_off(page, desk.url)
        page.goto("/docs")
        expect(page.locator(".opblock")).to_have_count(sum(map(len, paths.values())))
        chat = page.locator(".opblock", has=page.locator('[data-path="/v1/chat/completions"]'))
        chat.locator(".opblock-summary-control").click()
        expect(chat.locator(".opblock-section-request-body")).to_contain_text("messages")
        icon = page.locator("link[rel~=icon]").get_attribute("href")
        assert (visitor.foreign, visitor.errors) == ([], [])
    with desk.http(None) as http:
        assert icon
        assert http.get(icon).headers["content-type"] == "image/png"
