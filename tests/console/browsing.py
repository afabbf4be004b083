"""A browser in front of a gateway: headless chromium, driven by Playwright, with every request it makes noted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from gateway.domain import Conversation, Question, Turn
from tests.gateway.running import Gateway

# The headless build first: chromium without windows, which takes three quarters of the time.
BUILDS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BUILDS)), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
PASSWORDS = {
    "sato": "sato's long password",
    "suzuki": "suzuki's password",
    "viewer": "a viewer's password",
    "boss": "the boss's password",
    "kimura": "kimura reads Chinese",
}

expect.set_options(timeout=30_000)


class Chromium:
    """One browser for many contexts; each context is a person of his own."""

    def __enter__(self) -> Self:
        self._playwright = sync_playwright().start()
        self.browser: Browser = self._playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.browser.close()
        self._playwright.stop()

    @contextmanager
    def person(self, url: str, *, locale: str = "en-US", **options: Any) -> Iterator[Visitor]:
        """Somebody at a browser of his own."""
        context = self.browser.new_context(
            base_url=url,
            locale=locale,
            reduced_motion="reduce",  # nothing moves away under a click
            viewport=options.pop("viewport", {"width": 1440, "height": 900}),
            **options,
        )
        try:
            yield Visitor(context, url)
        finally:
            context.close()


class Visitor:
    """A person with a page; `foreign` are the requests that left our origin."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self._origin = urlsplit(url).netloc
        self.page: Page = context.new_page()
        context.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self._origin:
            self.foreign.append(url)

    def sign_in(self, name: str = "sato", *, at: str = "/console/") -> Page:
        """Sign in by password and wait for the page."""
        self.page.goto(at)
        self.page.fill("input[name=name]", name)
        self.page.fill("input[name=password]", PASSWORDS[name])
        self.page.click("form button")
        expect(self.page.locator("header.bar")).to_be_visible()
        return listening(self.page)


def listening(page: Page) -> Page:
    """The page once it has shaken hands with the server: what is clicked before is lost."""
    page.wait_for_function("window.did_handshake", timeout=90_000)
    return page


def opened(desk: Gateway, question: str) -> str:
    """A ticket as the pipeline would open it, whatever the gate thinks of the question."""
    conversation = Conversation(turns=(Turn("user", question),), tenant="default", request_id="r-1")
    asked = Question(text=question, language="en", conversation=conversation)
    return desk.do(desk.services.tickets.open(asked, outcome="escalated", reason="gate_unsure", steps=()))
