"""What a reviewer's answer does to entries, and to other tickets that ask alike."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from cache.entries import Entry, Source
from gateway.domain import Conversation, Question, Turn
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


def announced(desk: Gateway, document: str) -> list[Any]:
    """The entries that a second version of a document makes stale."""
    with desk.http("admin") as admin:
        body = {"document": document, "version": "v2"}
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
        [ticket] = client.post("/v1/feedback", json=said).json()["tickets"]
    with chromium.person(desk.url) as sato:
        publish(sato.sign_in(at=f"/console/tickets/{ticket}"), "Three weeks.")
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
