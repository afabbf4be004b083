"""Trying a question shows every stage and leaves no trace; another policy can judge the same questions."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import func, select
from structlog.testing import capture_logs

from storage.schema import audit_windows, outcome_hours, outcomes, tickets
from tests.chatbot import Chatbot, Says
from tests.console.browsing import Chromium, needs_chromium
from tests.gateway.running import Gateway

pytestmark = needs_chromium

LATE = "What happens if I return a book late?"
FINE = "A fine of 10 yen per book and day is charged for late returns."
INVENTED = "Late returns cost 5,000 yen and your card is cancelled for life by the mayor."
WITHIN_MS = 90_000
OTHER_POLICY = """policy:
  must:
    examples: [When does the library open?, How many books can I borrow?, Can I renew a loan online?]
  may:
    examples: [Who won the football match?, How do I bake bread?, What is the weather tomorrow?]
  must_not:
    topics:
      - {name: cards, examples: [How do I get a library card?, Can I have a new library card?]}
"""


async def _kept(desk: Gateway) -> list[int]:
    """Everything that an asker's question would add to."""
    async with desk.services.stores.database.connect() as connection:
        rows = [
            await connection.scalar(select(func.count()).select_from(table))
            for table in (outcomes, outcome_hours, tickets)
        ]
        return [*rows, await connection.scalar(select(func.coalesce(func.sum(audit_windows.c.lookups), 0)))]


def _ask(page: Page, question: str) -> None:
    page.locator("main textarea").first.fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".tried .way-step").first).to_be_visible(timeout=WITHIN_MS)


def test_a_tried_question_shows_its_way_and_leaves_no_trace(
    desk: Gateway, chromium: Chromium, chatbot: Chatbot
) -> None:
    desk.write()  # what earlier tests asked
    before = desk.do(_kept(desk))
    chatbot.next(Says(INVENTED, [FINE]))
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/try")
        _ask(page, LATE)
        stages = [one.get_attribute("data-stage") for one in page.locator(".way-step").all()]
        assert stages == ["gate", "cache", "rag", "faithfulness"]
        expect(page.locator(".tried .chip").first).to_have_text("Withheld")
        expect(page.locator("[data-stage=rag]")).to_contain_text("Late returns cost 5,000 yen")
        expect(page.locator(".statement.bad").first).to_be_visible()
        expect(page.get_by_text("A real question would open a ticket here.")).to_be_visible()
        assert (sato.foreign, sato.errors) == ([], [])
    desk.write()
    assert desk.do(_kept(desk)) == before


def test_another_policy_judges_the_same_questions_and_the_differences_come_first(
    desk: Gateway, chromium: Chromium
) -> None:
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/try")
        page.get_by_text("Compare with another policy").click()
        policy, questions = page.locator(".compare textarea").nth(0), page.locator(".compare textarea").nth(1)
        policy.fill(OTHER_POLICY)
        questions.fill("When does the library open?\nHow do I get a library card?")
        page.get_by_role("button", name="Compare", exact=True).click()
        expect(page.locator(".compared, .told").first).to_be_visible(timeout=WITHIN_MS)
        expect(page.locator(".told")).to_have_count(0)  # where something failed, it says what
        expect(page.locator(".compared")).to_have_text("1 of 2 would be judged otherwise")
        expect(page.locator(".verdicts .chip")).to_have_text(["Ours", "Forbidden · cards", "Ours", "Ours"])


def test_a_policy_that_cannot_be_used_or_reads_other_files_is_told_with_its_line(
    desk: Gateway, chromium: Chromium
) -> None:
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/try")
        page.get_by_text("Compare with another policy").click()
        for text, says in (
            (
                "policy:\n  must:\n    exampels: [a]",
                "line 3, policy.must.exampels: unknown key; did you mean examples?",
            ),
            (
                "policy:\n  may:\n    examples_file: /etc/passwd",
                "line 3, policy.may.examples_file: /etc/passwd is not a file of the present policy",
            ),
            ("logging: {texts: true}", "expected one section, `policy:`"),
        ):
            page.locator(".compare textarea").nth(0).fill(text)
            page.get_by_role("button", name="Compare", exact=True).click()
            expect(page.locator(".compare .problem")).to_contain_text(says, timeout=WITHIN_MS)


def test_an_action_that_breaks_is_told_and_logged_without_the_words_asked(
    desk: Gateway, chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError(LATE)

    monkeypatch.setattr(desk.services.dry_run, "answer", broken)
    with chromium.person(desk.url) as sato, capture_logs() as logged:
        page = sato.sign_in(at="/console/try")
        page.locator("main textarea").first.fill(LATE)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator(".told.problem")).to_contain_text("Something broke on our side; it was logged.")
    [said] = [line for line in logged if line["event"] == "action failed" and line["log_level"] == "error"]
    assert said["error"] == "RuntimeError"
    assert LATE not in str(said)


def test_trying_is_for_reviewers(desk: Gateway, chromium: Chromium) -> None:
    with chromium.person(desk.url) as viewer:
        page = viewer.sign_in("viewer", at="/console/try")
        expect(page.get_by_text("Your role does not allow this")).to_be_visible()
