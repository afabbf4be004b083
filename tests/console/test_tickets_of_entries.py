"""What a reviewer's answer does to entries, and to other tickets that ask alike."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cache.entries import Entry, Source
from gateway.console.pages import ticket
from gateway.domain import Conversation, Draft, Passage, Question, Step, Turn
from tests.console.browsing import Chromium, opened
from tests.gateway.running import Gateway


def entry(desk: Gateway, question: str, document: str) -> str:
    """An active entry from the first version of a document."""
    body = {
        "kind": "ground_truth",
        "language": "en",
        "phrasings": [question],
        "answer": "Old answer.",
        "sources": [{"document": document, "version": "v1"}],
        "state": "active",
    }
    with desk.http("reviewer") as reviewer:
        made: dict[str, Any] = reviewer.post("/v1/entries", json=body).raise_for_status().json()
    return str(made["entry"]["id"])


def kept(desk: Gateway, id_: str) -> Entry:
    found: Entry = desk.do(desk.services.stores.entries.get("default", id_))
    return found


def announced(desk: Gateway, document: str, version: str = "v2") -> list[Any]:
    """The entries that another version of a document makes stale, or leaves so."""
    with desk.http("admin") as admin:
        body = {"document": document, "version": version}
        found: list[Any] = admin.post("/v1/documents/changed", json=body).raise_for_status().json()["stale"]
    return found


def review_of(desk: Gateway, id_: str) -> Any:
    with desk.http("reviewer") as reviewer:
        tickets = reviewer.get("/v1/tickets?limit=200").json()["tickets"]
    [ticket] = [one for one in tickets if one["entry_id"] == id_]
    return ticket


def publish(page: Page, answer: str) -> None:
    page.locator(".answer-field textarea").first.fill(answer)
    page.locator("button.publish").click()
    expect(page.locator(".closed")).to_contain_text(answer)


def test_a_disputed_answer_that_is_corrected_keeps_its_sources(desk: Gateway, chromium: Chromium) -> None:
    question = "How long may I keep a borrowed telescope?"
    id_ = entry(desk, question, "telescopes.pdf")
    with desk.http() as client:
        served = client.post("/v1/answers", json={"question": question, "user": "u1"})
        said = {"request_id": served.headers["x-request-id"], "verdict": "down"}
        [disputed] = client.post("/v1/feedback", json=said).json()["tickets"]
    with chromium.person(desk.url) as sato:
        publish(sato.sign_in(at=f"/console/tickets/{disputed}"), "Three weeks.")
    after = kept(desk, id_)
    assert (after.answer, after.state, after.sources) == (
        "Three weeks.",
        "active",
        (Source("telescopes.pdf", "v1"),),
    )
    assert announced(desk, "telescopes.pdf")


def test_an_entry_that_was_reviewed_stays_active_when_the_same_version_is_announced_again(
    desk: Gateway, chromium: Chromium
) -> None:
    id_ = entry(desk, "May I borrow a kayak at weekends?", "kayaks.pdf")
    assert announced(desk, "kayaks.pdf")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{review_of(desk, id_)['id']}")
        page.get_by_label("Sources").fill("kayaks.pdf\nboats.pdf")
        publish(page, "Yes, on Sundays.")
    assert kept(desk, id_).sources == (Source("kayaks.pdf", "v2"), Source("boats.pdf", ""))
    assert not announced(desk, "kayaks.pdf")
    assert kept(desk, id_).state == "active"


def test_a_reviewer_is_shown_what_changes_while_they_write_and_answers_that(
    desk: Gateway, chromium: Chromium
) -> None:
    id_ = entry(desk, "May I borrow a sledge in April?", "sledges.pdf")
    assert announced(desk, "sledges.pdf")
    ticket = review_of(desk, id_)["id"]
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}")
        page.locator(".answer-field textarea").first.fill("No, only until March.")
        expect(page.locator(".holder")).to_have_text("with sato")
        expect(page.locator(".why .strong", has_text="sledges.pdf")).to_have_count(1)
        assert announced(desk, "sledges.pdf", "v3")
        expect(page.locator(".notice")).to_contain_text("changed again meanwhile")
        expect(page.locator(".why .strong", has_text="sledges.pdf")).to_have_count(2)
        expect(page.locator(".answer-field textarea").first).to_have_value("No, only until March.")
        page.locator("button.publish").click()
        expect(page.locator(".closed")).to_contain_text("until March")
    assert kept(desk, id_).sources == (Source("sledges.pdf", "v3"),)


def test_what_the_page_has_not_shown_yet_is_not_approved(
    desk: Gateway, chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket, "WATCH_S", 3_600.0)
    id_ = entry(desk, "May I borrow a raft at night?", "rafts.pdf")
    assert announced(desk, "rafts.pdf")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{review_of(desk, id_)['id']}")
        expect(page.locator(".answer-field textarea").first).to_have_value("Old answer.")
        assert announced(desk, "rafts.pdf", "v3")
        for button in ("publish", "deliver"):
            page.locator(f"button.{button}").click()
            expect(page.locator(".told.problem")).to_contain_text("a source of this entry changed")
    assert (kept(desk, id_).state, review_of(desk, id_)["answer"]) == ("stale", None)


def test_whoever_publishes_a_draft_of_an_older_document_is_told_first(
    desk: Gateway, chromium: Chromium, tmp_path: Path
) -> None:
    ingest, file = desk.services.stores.documents.ingest, tmp_path / "skates.md"
    file.write_text("# Skates\n\nA pair of skates is 300 yen.\n", "utf-8")
    desk.do(ingest([tmp_path]))
    turn = Turn("user", "What do skates cost?")
    said = Conversation(turns=(turn,), tenant="default", request_id="r-skates")
    draft = Draft(text="300 yen.", contexts=(Passage(text="300 yen.", source="skates.md"),), model="m")
    id_ = desk.do(
        desk.services.tickets.open(
            Question(text=turn.text, language="en", conversation=said),
            outcome="withheld", reason="unchecked", steps=(Step("rag", 1.0, draft),),
        )
    )  # fmt: skip
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{id_}?do=e")
        expect(page.locator(".answer-field textarea").first).to_have_value("300 yen.")
        expect(page.locator(".changed-sources")).to_have_count(0)
        file.write_text("# Skates\n\nA pair of skates is 400 yen.\n", "utf-8")
        desk.do(ingest([tmp_path]))
        page.locator("button.publish").click()
        expect(page.locator(".told.problem")).to_contain_text("skates.md changed since this draft")
        expect(page.locator(".changed-sources")).to_contain_text("skates.md changed since the draft")
        page.reload()
        expect(page.locator(".changed-sources")).to_contain_text("skates.md")
        publish(page, "400 yen.")
    ticket_ = desk.do(desk.services.tickets.get(id_, tenant="default"))
    [source] = kept(desk, ticket_.entry_id).sources
    assert source.version == sha256(file.read_bytes()).hexdigest()
    desk.do(ingest([]))


def test_an_answer_to_an_asker_closes_no_review_of_an_entry(desk: Gateway, chromium: Chromium) -> None:
    question = "Where do I return a borrowed trombone?"
    id_ = entry(desk, question, "trombones.pdf")
    assert announced(desk, "trombones.pdf")
    asked = opened(desk, question)
    desk.do(desk.services.queue.catch_up())
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{asked}")
        page.locator(".answer-field textarea").first.fill("At the counter.")
        page.locator("button.deliver").click()
        expect(page.locator(".closed")).to_contain_text("At the counter.")
    assert review_of(desk, id_)["state"] == "open"


def test_an_answer_for_one_group_goes_to_nobody_of_another(desk: Gateway, chromium: Chromium) -> None:
    def ask(group: str, asker: str) -> str:
        question = "Who has the master key of the archive?"
        said = Conversation(
            turns=(Turn("user", question),),
            tenant="default",
            request_id=f"r-{asker}",
            asker=asker,
            group=group,
        )
        asked = Question(text=question, language="en", conversation=said)
        ticket = desk.services.tickets.open(asked, outcome="escalated", reason="nothing_relevant", steps=())
        return str(desk.do(ticket))

    staff, public, other = ask("staff", "employee"), ask("", "visitor"), ask("staff", "colleague")
    desk.do(desk.services.queue.catch_up())
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{staff}")
        expect(page.get_by_role("checkbox", name="Also answer")).to_be_checked()
        publish(page, "Ms Tanaka, safe 3, code 4711.")
    with desk.http("client") as client:
        polled = client.get(f"/v1/tickets/{public}").json()
    assert (polled["state"], polled["answer"]) == ("open", None)
    assert desk.do(desk.services.tickets.get(other, tenant="default")).state == "answered"
