"""Working at the console: from signing in to an answer that serves the next who asks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cache.entries import Entry
from gateway.domain import Conversation, Draft, Question, Step, Turn
from gateway.review.entries.approval import Approvals, Preview
from tests.chatbot import Chatbot, Context, Says
from tests.console.browsing import Chromium, listening, needs_chromium, opened
from tests.gateway.running import Gateway

pytestmark = needs_chromium


def _ticket(desk: Gateway, question: str) -> str:
    """The ticket that a question of an asker opens."""
    reply = desk.answer(question)
    assert reply.get("ticket"), reply
    return str(reply["ticket"])


def _stored(desk: Gateway, ticket: str) -> Any:
    return desk.do(desk.services.tickets.get(ticket, tenant="default"))


def _open(page: Page, ticket: str, *, do: str = "") -> None:
    page.goto(f"/console/tickets/{ticket}" + (f"?do={do}" if do else ""))
    expect(listening(page).locator(".history")).to_be_visible()


def test_a_ticket_is_answered_and_published_and_the_next_who_asks_is_served_and_counted(
    desk: Gateway, chromium: Chromium
) -> None:
    ticket = _ticket(desk, "How many books can I borrow for my children?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in()
        row = page.locator(".q-row", has_text="for my children")
        expect(row).to_be_visible()
        row.click()
        expect(page).to_have_url(re.compile(ticket))
        page.locator(".answer-field textarea").fill("You can borrow ten books for each child.")
        expect(page.locator(".holder")).to_have_text("with sato")
        page.locator("button.publish").click()
        expect(page.locator(".told")).to_contain_text("Delivered and published")
        expect(page.locator(".closed")).to_contain_text("ten books")
        asked_near = [{"role": "user", "content": "How many books may I borrow for my children?"}]
        with desk.openai() as client:
            reply = client.chat.completions.with_raw_response.create(model="sekisho", messages=asked_near)  # type: ignore[arg-type]
        assert reply.headers["x-sekisho-outcome"] == "ground_truth"
        assert "ten books" in str(reply.parse().choices[0].message.content)
        desk.write()
        page.goto("/console/dashboard?days=1")
        page.locator("[data-figure=cache_hits]").click()
        expect(page.locator("tbody tr").first).to_contain_text("borrow for my children")
        assert sato.foreign == []
        assert sato.errors == []


def test_an_admin_gives_back_what_somebody_who_left_still_holds(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "Whose ticket is this?")
    desk.do(desk.services.tickets.claim(ticket, tenant="default", by="kimura"))
    with chromium.person(desk.url) as sato, chromium.person(desk.url) as boss:
        page = sato.sign_in()
        _open(page, ticket)
        expect(page.locator(".holder")).to_have_text("with kimura")
        expect(page.locator("button.release")).to_have_count(0)
        page = boss.sign_in("boss")
        _open(page, ticket)
        page.locator("button.release").click()
        expect(page.locator("button.claim")).to_be_visible()
        expect(page.locator(".holder")).to_have_count(0)
    assert _stored(desk, ticket).claimed_by is None


def test_a_draft_is_marked_where_it_has_no_support_and_can_be_started_from(
    desk: Gateway, chromium: Chromium, chatbot: Chatbot
) -> None:
    written = "A book that is late costs 300 yen a day. You can renew a loan at the counter."
    passage = "You can renew a loan at the counter of the library. A book that is late costs nothing in the first week."
    chatbot.when(
        "very old library book", Says(written, contexts=[Context(text=passage, title="", source="")])
    )
    ticket = _ticket(desk, "What happens if I return a very old library book late?")
    assert _stored(desk, ticket).outcome == "withheld"
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}")
        expect(page.locator(".marked .unsupported").first).to_be_visible()
        expect(page.locator(".passages summary")).to_contain_text("You can renew a loan at the counter of t…")
        page.keyboard.press("e")
        expect(page.locator(".answer-field textarea")).not_to_have_value("")
        expect(page.locator(".answer-field textarea")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("f")
        expect(page.locator(".told")).to_contain_text("Labelled as supported")
    labels = desk.do(desk.services.desk.judgements.labels("default", ticket_id=ticket))
    assert [one.faithful for one in labels] == [True]


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en-US", "Answer: too long. At most 32,000 characters are kept, and these are 96,000."),
        ("ja-JP", "「回答」が長すぎます。保存できるのは 32,000 文字までですが、96,000 文字あります。"),
        ("zh-CN", "“回答”过长：最多可保存 32,000 个字符，现有 96,000 个。"),
    ],
)
def test_a_draft_that_is_too_long_to_be_kept_is_told_of_only_when_it_is_published(
    desk: Gateway, chromium: Chromium, locale: str, said: str
) -> None:
    written = "It is so. " * 9_600
    turn = Turn("user", f"How long may a {locale} draft be?")
    conversation = Conversation(turns=(turn,), tenant="default", request_id="r-1")
    asked = Question(text=turn.text, language="en", conversation=conversation)
    draft = Step("rag", 80.0, Draft(text=f"{written[:-2]}..", contexts=(), model="m"))
    ticket = desk.do(
        desk.services.tickets.open(asked, outcome="withheld", reason="unchecked", steps=(draft,))
    )
    with chromium.person(desk.url, locale=locale) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}?do=e")
        expect(page.locator(".answer-field textarea")).not_to_have_value("")  # the last thing that is done
        expect(page.locator(".told")).to_have_count(0)
        page.locator("button.publish").click()
        expect(page.locator(".told.problem")).to_have_text(re.compile(re.escape(said)))
    assert _stored(desk, ticket).answer is None


def test_a_ticket_opens_quietly_whose_question_is_too_long_for_an_entry(
    desk: Gateway, chromium: Chromium
) -> None:
    ticket = opened(desk, f"Where is the {'very ' * 500}old map?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}?do=a")
        expect(page.locator(".answer-field textarea")).to_be_focused()
        expect(page.locator(".told")).to_have_count(0)


def test_two_reviewers_on_one_ticket_see_each_other_and_overwrite_nothing(
    desk: Gateway, chromium: Chromium
) -> None:
    ticket = opened(desk, "Where in the library may I eat my lunch?")
    with chromium.person(desk.url) as sato, chromium.person(desk.url) as suzuki:
        one, other = sato.sign_in("sato"), suzuki.sign_in("suzuki")
        _open(one, ticket)
        _open(other, ticket)
        one.locator(".answer-field textarea").fill("In the café on the ground floor.")
        expect(one.locator(".holder")).to_have_text("with sato")
        expect(other.locator(".notice")).to_contain_text("sato has taken this ticket")
        other.locator(".answer-field textarea").fill("Nowhere.")
        other.locator("button.deliver").click()
        expect(other.locator(".told")).to_contain_text("nothing was overwritten")
        one.locator("button.deliver").click()
        expect(one.locator(".closed")).to_contain_text("café")
        expect(other.locator(".notice")).to_contain_text("In the café on the ground floor.")
        expect(other.locator(".answer-field textarea")).to_have_value("Nowhere.")
    assert _stored(desk, ticket).answer == "In the café on the ground floor."


def test_what_is_not_ours_goes_to_the_gate_and_can_be_taken_back(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "Which library shelf is best for my own garden?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}")
        expect(page.locator(".history")).to_be_visible()
        page.keyboard.press("n")
        expect(page.locator(".told")).to_contain_text("proposed to the gate")
        [example] = desk.do(desk.services.gatekeeping.examples.list("default", ticket_id=ticket)).examples
        assert (example.label, example.state) == ("may", "candidate")
        page.locator(".undo").click()
        expect(page.locator(".editor")).to_be_visible()
    assert _stored(desk, ticket).state == "open"
    [example] = desk.do(desk.services.gatekeeping.examples.list("default", ticket_id=ticket)).examples
    assert example.state == "rejected"


def test_many_are_dismissed_by_keys_and_brought_back(desk: Gateway, chromium: Chromium) -> None:
    tickets = [opened(desk, text) for text in ("Where do the geckos sleep?", "Who mends quartz lamps?")]
    with chromium.person(desk.url) as sato:
        page = sato.sign_in()
        for ticket in tickets:
            page.locator(f".q-row[data-id={ticket}] .tick").click()
        page.keyboard.press("d")
        expect(page.locator(".told")).to_contain_text("Dismissed without an answer: 2")
        assert {_stored(desk, one).state for one in tickets} == {"dismissed"}
        page.locator(".undo").click()
        expect(page.locator(".told")).to_contain_text("Taken back: 2")
    assert {_stored(desk, one).state for one in tickets} == {"open"}


def test_to_undo_a_claim_gives_nothing_back_that_one_held_before(desk: Gateway, chromium: Chromium) -> None:
    held, free = (opened(desk, text) for text in ("Who feeds the axolotl?", "Which drum is the loudest?"))
    desk.do(desk.services.tickets.claim(held, tenant="default", by="sato"))
    with chromium.person(desk.url) as sato:
        page = sato.sign_in()
        for ticket in (held, free):
            page.locator(f".q-row[data-id={ticket}] .tick").click()
        page.keyboard.press("c")
        expect(page.locator(".told")).to_contain_text("1")
        assert _stored(desk, free).claimed_by == "sato"
        page.locator(".undo").click()
        expect(page.locator(".told")).to_contain_text("Taken back: 1")
    assert [_stored(desk, one).claimed_by for one in (held, free)] == ["sato", None]


def _move_to(page: Page, ticket: str) -> None:
    """By `j`, from the first row down."""
    expect(page.locator(f".q-row[data-id={ticket}]")).to_be_visible()
    for _ in range(page.locator(".q-row").count()):
        if page.locator(".q-row.at").get_attribute("data-id") == ticket:
            return
        page.keyboard.press("j")
    raise AssertionError(f"{ticket} was not reached")


def test_a_ticket_is_reached_answered_and_published_by_keys_alone(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "How loud may the choir of the archive sing?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in()
        _move_to(page, ticket)
        page.keyboard.press("j")
        page.keyboard.press("k")
        _move_to(page, ticket)  # there was none below it
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(ticket))
        expect(page.locator(".history")).to_be_visible()
        page.keyboard.press("a")
        expect(page.locator(".answer-field textarea")).to_be_focused()
        page.keyboard.type("As loud as it likes.")
        expect(page.locator(".holder")).to_have_text("with sato")
        page.keyboard.press("Escape")
        page.keyboard.press("p")
        expect(page.locator(".closed")).to_contain_text("As loud as it likes.")
    assert _stored(desk, ticket).entry_id is not None


def test_the_cursor_stays_on_its_ticket_when_others_come_before_it(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "Which moss grows on the reading room's roof?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in()
        _move_to(page, ticket)
        many = [opened(desk, "Who winds the tower clock on leap days?") for _ in range(9)]
        row = page.locator(f".q-row[data-id={many[0]}]")
        expect(row.locator(".count")).to_have_text("9", timeout=30_000)
        above = "(row, at) => row.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING"
        assert row.evaluate(above, page.locator(".q-row.at").element_handle())
        expect(page.locator(".q-row.at")).to_have_attribute("data-id", ticket)


def test_the_interface_speaks_japanese_and_remembers_who_likes_another_language(
    desk: Gateway, chromium: Chromium
) -> None:
    with chromium.person(desk.url, locale="ja-JP") as kimura:
        page = kimura.sign_in("kimura")
        expect(page.locator("nav a.here")).to_contain_text("受付一覧")
        assert page.evaluate("document.documentElement.lang") == "ja"
        page.get_by_role("button", name="JA").click()
        page.get_by_text("中文").click()
        expect(page.locator("nav a.here")).to_contain_text("待办队列")
    with chromium.person(desk.url, locale="en-US") as kimura:
        expect(kimura.sign_in("kimura").locator("nav a.here")).to_contain_text("待办队列")


def test_a_viewer_reads_and_can_change_nothing(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "May I bring a dog into the library?")
    with chromium.person(desk.url) as viewer:
        page = viewer.sign_in("viewer", at=f"/console/tickets/{ticket}")
        expect(page.locator(".asked-card")).to_contain_text("dog")
        assert page.locator(".editor, .decisions, button.claim").count() == 0
        for key in "cndgfp":
            page.keyboard.press(key)
        page.goto("/console/")
        page.locator(f".q-row[data-id={ticket}] .tick").click()
        for key in "cdn":
            page.keyboard.press(key)
        page.wait_for_timeout(300)
    assert _stored(desk, ticket).state == "open"
    assert _stored(desk, ticket).revision == 1


def test_a_role_that_was_taken_away_ends_what_an_open_page_may_do(desk: Gateway, chromium: Chromium) -> None:
    ticket = opened(desk, "Does the library sell stamps?")
    users = desk.services.people.users
    desk.do(users.add("temp", tenant="default", role="reviewer", password="a temporary password"))
    with chromium.person(desk.url) as temp:
        page = temp.page
        page.goto(f"/console/tickets/{ticket}")
        page.fill("input[name=name]", "temp")
        page.fill("input[name=password]", "a temporary password")
        page.click("form button")
        expect(page.locator(".editor")).to_be_visible()
        desk.do(users.add("temp", tenant="default", role="viewer"))
        page.locator("button.claim").click()
        expect(page.locator(".told.problem")).to_contain_text("Your role does not allow this")
    assert _stored(desk, ticket).state == "open"


@pytest.mark.parametrize("address", ["/console/tickets/T-00000000", "/console/tickets/x"])
def test_a_ticket_that_is_not_there_is_told_calmly(desk: Gateway, chromium: Chromium, address: str) -> None:
    with chromium.person(desk.url) as viewer:
        page = viewer.sign_in("viewer", at=address)
        expect(page.locator(".empty")).to_contain_text("There is no such ticket.")


def test_an_answer_that_competes_with_another_entry_is_shown_before_it_is_published(
    desk: Gateway, chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Entry] = []

    async def counted(approvals: Approvals, entry: Entry) -> Preview:
        looks.append(entry)
        return await preview(approvals, entry)

    preview = Approvals.preview
    monkeypatch.setattr(Approvals, "preview", counted)
    entry = {
        "language": "en",
        "phrasings": ["How do I pay the late fee?"],
        "answer": "At the counter.",
        "state": "active",
    }
    with desk.http("reviewer") as reviewer:
        assert reviewer.post("/v1/entries", json={"kind": "ground_truth", **entry}).status_code < 300
    ticket = opened(desk, "How do I pay a late fee?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}")
        page.locator(".answer-field textarea").fill("By bank transfer.")
        page.locator("button.publish").click()
        sheet = page.locator(".sheet")
        expect(sheet).to_contain_text("How do I pay the late fee?")
        sheet.get_by_text("Cancel").click()
        expect(page.locator(".collision")).to_be_visible()
        assert _stored(desk, ticket).state == "claimed"
        looks.clear()
        page.locator("button.publish").click()
        sheet.get_by_text("Publish anyway").click()
        expect(page.locator(".closed")).to_contain_text("By bank transfer.")
    assert _stored(desk, ticket).entry_id is not None
    assert len(looks) == 1, "who publishes anyway has seen what was looked at"


def test_who_publishes_what_another_entry_asks_hears_that_and_of_no_other_person(
    desk: Gateway, chromium: Chromium
) -> None:
    question = "Where do I hand in a lost umbrella?"
    entry = {"kind": "ground_truth", "language": "en", "phrasings": [question], "answer": "Here."}
    with desk.http("reviewer") as reviewer:
        assert reviewer.post("/v1/entries", json={**entry, "state": "active"}).status_code < 300
    ticket = opened(desk, question)
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}")
        page.locator(".answer-field textarea").fill("At the desk.")
        page.locator("button.publish").click()
        page.locator(".sheet").get_by_text("Publish anyway").click()
        expect(page.locator(".told.problem")).to_contain_text("Another entry already has this phrasing.")
    assert _stored(desk, ticket).answer is None


def test_who_answers_alike_tickets_hears_of_those_that_somebody_else_holds(
    desk: Gateway, chromium: Chromium
) -> None:
    tickets = [opened(desk, f"Do you lend umbrellas{end}") for end in ("?", " at all?", " today?")]
    desk.do(desk.services.tickets.claim(tickets[1], tenant="default", by="tanaka"))
    desk.do(desk.services.queue.catch_up())
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{tickets[0]}")
        page.get_by_role("checkbox", name="Also answer").click()
        page.locator(".answer-field textarea").fill("We do, at the desk.")
        page.locator("button.deliver").click()
        expect(page.locator(".told")).to_contain_text("Left as they are, held by others or not fit: 1")
    assert [_stored(desk, one).state for one in tickets] == ["answered", "claimed", "answered"]


def test_what_was_being_written_is_there_again_after_the_page_is_loaded_anew(
    desk: Gateway, chromium: Chromium
) -> None:
    ticket = opened(desk, "Can I print at the library?")
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/tickets/{ticket}")
        field = page.locator(".answer-field textarea")
        field.press_sequentially("Ten yen a page")
        expect(page.locator(".holder")).to_have_text("with sato")
        page.reload()
        expect(field).to_have_value("Ten yen a page")
        page.locator("button.deliver").click()
        expect(page.locator(".closed")).to_contain_text("Ten yen a page")
