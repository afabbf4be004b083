"""Working on verified entries: found, edited by two at once, imported with a wrong line."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from openpyxl import Workbook
from playwright.sync_api import expect

from cache.entries import Entry
from cache.store import EntryStore
from cache.store.content import Content
from cache.store.queries import Filters
from tests.console.browsing import PASSWORDS, Chromium, needs_chromium, opened
from tests.gateway.running import Gateway

pytestmark = needs_chromium


def _written(desk: Gateway, question: str, answer: str, **given: object) -> Entry:
    content = Content(kind="ground_truth", language="en", phrasings=(question,), answer=answer, **given)  # type: ignore[arg-type]
    entry = desk.do(_entries(desk).create("default", content, by="boss", state="active"))
    desk.do(desk.services.stores.index_pending())
    return entry


def _entries(desk: Gateway) -> EntryStore:
    return desk.services.stores.entries


def test_an_entry_is_found_by_its_words_and_by_its_meaning(desk: Gateway, chromium: Chromium) -> None:
    entry = _written(desk, "Where can I park my bicycle at the library?", "Behind the north entrance.")
    with chromium.person(desk.url) as viewer:
        page = viewer.sign_in("viewer", at="/console/entries")
        page.locator(".search input").fill("north entrance")
        expect(page.locator(".count")).to_have_text("1 entries")
        page.locator(".search input").fill("a place for bikes at the library")
        expect(page.locator(".count")).to_have_text("0 entries")
        page.get_by_role("button", name="By meaning").click()
        expect(page.locator(".rows tbody tr").first).to_contain_text("park my bicycle")
        page.locator(".rows tbody tr").first.click()
        expect(page).to_have_url(re.compile(entry.id))
        expect(page.locator("button.save")).to_have_count(0)
        assert viewer.foreign == []
        assert viewer.errors == []


def test_a_table_shows_no_more_rows_to_somebody_whose_session_has_ended(
    desk: Gateway, chromium: Chromium
) -> None:
    _written(desk, "Where is the lift of the library?", "Behind the desk.")
    with chromium.person(desk.url) as viewer:
        page = viewer.sign_in("viewer", at="/console/entries")
        desk.do(desk.services.people.users.set_password("viewer", PASSWORDS["viewer"]))
        page.locator(".q-table__bottom .q-select").click()
        page.get_by_role("option", name="25").click()
        expect(page).to_have_url(re.compile("/sign-in"))


def test_an_entry_outside_its_validity_is_not_shown_as_one_that_is_served(
    desk: Gateway, chromium: Chromium
) -> None:
    today = _entries(desk).today
    over = _written(desk, "Is there a summer reading prize?", "A tote bag.", valid_until=today - timedelta(1))
    coming = _written(desk, "Is there a winter quiz?", "In January.", valid_from=today + timedelta(9))
    last = _written(desk, "Is there an autumn fair?", "Until tonight.", valid_from=today, valid_until=today)
    expected = ((over, "Expired"), (coming, "Not valid yet"), (last, "Active"))
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/entries")
        for entry, says in expected:
            page.goto(f"/console/entries?search={entry.question.split()[-2]}")
            expect(page.locator(".rows tbody tr")).to_have_count(1)
            expect(page.locator(".rows .chip").first).to_have_text(says)
            page.goto(f"/console/entries/{entry.id}")
            expect(page.locator(".ticket-head .chip")).to_have_text(says)
        page.goto(f"/console/entries/{over.id}")
        page.locator("button.to-paused").click()
        expect(page.locator(".ticket-head .chip")).to_have_text("Paused")
        page.locator("button.to-active").click()
        expect(page.locator(".told").last).to_contain_text("not served")


def test_two_who_edit_one_entry_see_each_other_and_overwrite_nothing(
    desk: Gateway, chromium: Chromium
) -> None:
    entry = _written(desk, "What does a lost library key cost?", "A lost key costs 500 yen.")
    with chromium.person(desk.url) as sato, chromium.person(desk.url) as suzuki:
        one = sato.sign_in("sato", at=f"/console/entries/{entry.id}")
        other = suzuki.sign_in("suzuki", at=f"/console/entries/{entry.id}")
        other.locator(".answer textarea").fill("A lost key costs nothing.")
        one.locator(".answer textarea").fill("A lost key costs 800 yen.")
        one.locator("button.save").click()
        expect(one.locator(".revision")).to_have_text("Revision 2")
        expect(one.locator(".history summary")).to_have_count(2)
        other.locator("button.save").click()
        expect(other.locator(".conflict")).to_contain_text("sato changed this entry")
        expect(other.locator(".conflict ins")).to_have_text("800")
        expect(other.locator(".answer textarea")).to_have_value("A lost key costs nothing.")
        assert _answer(desk, entry) == "A lost key costs 800 yen."
        other.locator("button.keep").click()
        expect(other.locator(".revision")).to_have_text("Revision 2")
        other.locator("button.save").click()
        expect(other.locator(".revision")).to_have_text("Revision 3")
        assert _answer(desk, entry) == "A lost key costs nothing."
        other.locator("button.to-paused").click()
        expect(other.locator(".ticket-head .chip")).to_have_text("Paused")
        other.locator(".undo").click()
        expect(other.locator(".ticket-head .chip")).to_have_text("Active")


def test_a_suggested_phrasing_is_accepted_while_the_answer_is_being_written(
    desk: Gateway, chromium: Chromium
) -> None:
    entry = _written(desk, "When is the library's storytelling hour?", "On Saturdays at 14:00.")
    said = "what time do you read stories to children"
    desk.do(desk.services.approvals.suggestions.add(entry, said, source="near_miss", by="gateway"))
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at=f"/console/entries/{entry.id}")
        page.locator(".answer textarea").fill("On Saturdays at 15:00.")
        page.locator(".suggestions button.accept").click()
        expect(page.locator(".phrasings textarea").first).to_have_value(said)
        expect(page.locator(".answer textarea")).to_have_value("On Saturdays at 15:00.")
        page.locator("button.save").click()
        expect(page.locator(".revision")).to_have_text("Revision 3")
    kept = desk.do(_entries(desk).get("default", entry.id))
    assert (kept.answer, kept.phrasings[1:]) == ("On Saturdays at 15:00.", (said,))


def test_a_file_with_a_wrong_line_is_shown_before_it_is_imported(
    desk: Gateway, chromium: Chromium, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    file.write_text(
        "question,answer,language,review_by,note\n"
        "Does the library have a piano?,Yes: on the second floor.,en,2020-01-31,\n"
        "Does the library have a harp?,No.,en,next week,\n",
        "utf-8",
    )
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/entries/import")
        page.locator("input[type=file]").set_input_files(file)
        remarks, refused = page.locator(".refusal-list").first, page.locator(".refusal-list").last
        expect(refused).to_contain_text("Line 3")
        expect(refused).to_contain_text("next week")
        expect(remarks).to_contain_text("not read: “note”")
        assert _named(desk, "piano") == []
        page.locator("button.import-rows").click()
        expect(page.locator(".told")).to_contain_text("Imported: 1.")
        assert _named(desk, "piano") == ["Does the library have a piano?"]
        page.goto("/console/entries?overdue=1")
        expect(page.locator(".rows tbody tr")).to_have_count(1)
        expect(page.locator(".rows .chip.bad")).to_have_text("2020-01-31")
        with page.expect_download() as exported:
            page.get_by_role("button", name="Export").click()
            page.get_by_text("JSONL").click()
        assert "piano" in exported.value.path().read_text("utf-8")


def test_a_file_without_languages_is_read_in_the_pages_until_another_is_chosen_and_may_be_sent_twice(
    desk: Gateway, chromium: Chromium, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    file.write_bytes("标准问题,答案\n图书馆有钢琴吗,有，在二楼。\n".encode("gb18030"))
    strange = tmp_path / "strange.csv"
    strange.write_bytes("栏目,内容\n甲,乙\n".encode("gb18030"))
    with chromium.person(desk.url, locale="zh-CN") as sato:
        page = sato.sign_in(at="/console/entries/import")
        page.locator("input[type=file]").set_input_files(file)
        expect(page.locator("button.import-rows")).to_be_visible()
        page.locator(".import .q-select").click()
        page.get_by_role("option", name="不指定").click()
        expect(page.locator(".refusal-list")).to_contain_text("未注明语言的行")
        expect(page.locator("button.import-rows")).to_have_count(0)
        page.locator(".import .q-select").click()
        page.get_by_role("option", name="中文").click()
        expect(page.locator("button.import-rows")).to_be_visible()
        page.locator("input[type=file]").set_input_files(file)
        expect(page.locator("button.import-rows")).to_be_visible()
        expect(page.locator(".told.problem")).to_have_count(0)
        page.locator("input[type=file]").set_input_files(strange)
        expect(page.locator(".unreadable")).to_contain_text("前十行中须有一行为列名")
        expect(page.locator(".unreadable")).to_contain_text("strange.csv")


def test_a_workbook_whose_formulas_were_never_worked_out_is_told_in_the_language_of_the_page(
    desk: Gateway, chromium: Chromium, tmp_path: Path
) -> None:
    workbook = Workbook()
    for row in (["市民FAQ一覧"], ["質問", "回答"], ["ピアノはありますか", "=B1"]):
        workbook.worksheets[0].append(row)
    workbook.save(tmp_path / "faq.xlsx")
    with chromium.person(desk.url, locale="ja-JP") as sato:
        page = sato.sign_in(at="/console/entries/import")
        page.locator("input[type=file]").set_input_files(tmp_path / "faq.xlsx")
        expect(page.locator(".unreadable")).to_contain_text("一度開いて上書き保存")


def test_a_cell_or_a_file_that_cannot_be_read_is_told_in_the_language_of_the_page(
    desk: Gateway, chromium: Chromium, tmp_path: Path
) -> None:
    workbook = Workbook()
    for row in (["質問", "回答"], ["ピアノはありますか", 0.5]):
        workbook.worksheets[0].append(row)
    workbook.worksheets[0]["B2"].number_format = "# ?/?"
    workbook.save(tmp_path / "faq.xlsx")
    (tmp_path / "faq.csv").write_bytes("question,answer\nピアノは？,あります。\n".encode("cp932"))
    with chromium.person(desk.url, locale="ja-JP") as sato:
        page = sato.sign_in(at="/console/entries/import")
        page.locator("input[type=file]").set_input_files(tmp_path / "faq.xlsx")
        expect(page.locator(".refusal-list")).to_contain_text("見えているとおりに文字列で入力")
        page.locator("input[type=file]").set_input_files(tmp_path / "faq.csv")
        expect(page.locator(".unreadable")).to_contain_text("文字コードが UTF-8 ではありません")


def test_a_large_file_is_read_and_one_too_large_is_refused_by_its_size(
    desk: Gateway, chromium: Chromium, tmp_path: Path
) -> None:
    whole, too_large = tmp_path / "faq.csv", tmp_path / "dump.csv"
    row = "How is shelf {n} cleaned?,{answer},en\n"
    answer = "Every night. " * 30
    rows = (row.format(n=n, answer=answer) for n in range(1_500))
    whole.write_text("question,answer,language\n" + "".join(rows), "utf-8")
    assert whole.stat().st_size > 2 * desk.services.settings.server.max_body_bytes
    with too_large.open("wb") as file:
        file.truncate(desk.services.settings.console.max_upload_bytes + 1)
    with chromium.person(desk.url) as sato:
        page = sato.sign_in(at="/console/entries/import")
        page.locator("input[type=file]").set_input_files(too_large)
        expect(page.locator(".told.problem")).to_contain_text("larger than 20 MB")
        page.locator("input[type=file]").set_input_files(whole)
        expect(page.locator("button.import-rows")).to_contain_text("1,500", timeout=30_000)
        assert sato.errors == []


def _answer(desk: Gateway, entry: Entry) -> str:
    return desk.do(_entries(desk).get("default", entry.id)).answer


def _named(desk: Gateway, word: str) -> list[str]:
    page = desk.do(_entries(desk).list("default", Filters(search=word)))
    return [entry.question for entry in page.entries]


def test_two_persons_stand_behind_what_is_served(
    desk: Gateway, chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting is switched on in the desk that all tests share: a process has one console."""
    monkeypatch.setattr(_entries(desk), "_two_persons", True)
    question = "What is the deposit for the library's film projector?"
    ticket = opened(desk, question)
    with chromium.person(desk.url) as sato, chromium.person(desk.url) as suzuki:
        page = sato.sign_in("sato", at=f"/console/tickets/{ticket}")
        page.locator(".answer-field textarea").fill("The deposit for the projector is 3,000 yen.")
        page.locator("button.publish").click()
        expect(page.locator(".told")).to_contain_text("waits for a second person")
        page.locator(".closed a").click()
        page.locator("button.to-active").click()
        expect(page.locator(".told.problem")).to_contain_text("Somebody else has to activate")
        other = suzuki.sign_in("suzuki", at="/console/entries?state=draft")
        other.locator(".rows tbody tr", has_text="film projector").click()
        other.locator("button.to-active").click()
        expect(other.locator(".ticket-head .chip")).to_have_text("Active")
    assert desk.answer(question)["outcome"] == "ground_truth"
