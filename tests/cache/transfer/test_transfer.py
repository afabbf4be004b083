from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import Workbook, load_workbook

from cache.entries import EntryState, Source
from cache.errors import InvalidEntry, UnreadableTable
from cache.store import EntryStore
from cache.store.content import content_of
from cache.store.queries import Filters
from cache.transfer import Refusal, export_entries, import_entries, read_faq
from tests.cache.shelves import content

HEADER = "question,answer,language\n"


async def imported(store: EntryStore, path: Path, data: bytes | str) -> tuple[Refusal, ...]:
    path.write_bytes(data.encode() if isinstance(data, str) else data)  # noqa: ASYNC240 - a test waits for nobody
    return (await import_entries(store, "shop", path, by="ann")).refused


@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx"])
async def test_what_was_exported_is_imported_as_the_same_entries(
    store: EntryStore, tmp_path: Path, form: str
) -> None:
    written = [
        content("How do I pay?", "Payment, please", "“Pay”; how", answer="Two\nlines, with a comma.\n\n=1+1"),
        content(
            "=1+1", "-5 degrees", answer="=HYPERLINK()", owner="@finance", sources=(Source("a@b.md", "ab12"),)
        ),
        content(
            "料金はいくらですか？",
            "費用は",
            language="ja",
            kind="confirmed_answer",
            group="staff",
            sources=(Source("料金.md", ""), Source("b", "2")),
        ),
        content("12", valid_from=date(2026, 1, 2), valid_until=date(2026, 2, 3), review_by=date(2026, 3, 4)),
    ]
    for one, state in zip(written, ("active", "draft", "paused", "active"), strict=True):
        await store.create("shop", one, by="ann", state=state)  # type: ignore[arg-type]
    file = tmp_path / f"entries.{form}"
    assert await export_entries(store, "shop", file) == 4
    assert (await import_entries(store, "shop", file, by="ben")).unchanged == 4
    report = await import_entries(store, "twin", file, by="ben")
    assert (report.created, report.refused) == (4, ())
    for entry in (await store.list("shop")).entries:
        (twin,) = [one for one in (await store.list("twin")).entries if one.question == entry.question]
        assert (content_of(twin), twin.state) == (content_of(entry), entry.state)
    assert not list(tmp_path.glob(".*partial*"))  # noqa: ASYNC240 - a test waits for nobody


@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx"])
async def test_every_name_and_version_of_a_source_is_read_back(
    store: EntryStore, tmp_path: Path, form: str
) -> None:
    versions = ("", "x@y", "@", "one\ntwo", "50%", "%40", "%2540", "v\u20282", "料金@１")
    sources = [Source(name, one) for name in ("a.md", "me@x", "d@", "a\x85b") for one in versions]
    for number, source in enumerate(sources):
        await store.create(
            "shop", content(f"Question {number}?", sources=(source,)), by="ann", state="active"
        )
    file = tmp_path / f"faq.{form}"
    await export_entries(store, "shop", file)
    assert (await import_entries(store, "twin", file, by="ann")).created == len(sources)
    assert {one.sources[0] for one in (await store.list("twin")).entries} == set(sources)


async def test_a_per_cent_sign_that_nobody_escaped_is_read_as_it_stands(
    store: EntryStore, tmp_path: Path
) -> None:
    assert await imported(store, tmp_path / "faq.csv", f"sources,{HEADER}draft.md@50% %x,How?,So.,en\n") == ()
    [entry] = (await store.list("shop")).entries
    assert entry.sources == (Source("draft.md", "50% %x"),)


BAD_ROWS: list[tuple[dict[str, object], str, str]] = [
    ({"answer": ""}, "answer", "expected a text, found nothing"),
    ({"question": " "}, "question", "expected a text, found nothing"),
    ({"language": ""}, "language", "expected en, ja or zh, found “”"),
    (
        {"group": "sales team"},
        "group",
        "expected at most 40 of a-z, 0-9 and _, a letter first, or nothing for everybody, found “sales team”",
    ),
    ({"kind": "rumour"}, "kind", "expected ground_truth or confirmed_answer, found “rumour”"),
    ({"state": "on"}, "state", "expected one of draft, active, paused, stale, retired, found “on”"),
    ({"valid_until": "soon"}, "valid_until", "expected a day such as 2026-04-01, found “soon”"),
    ({"id": "x y"}, "id", "expected 1 to 200 characters without spaces"),
    ({"question": 5}, "question", "expected a text, found 5"),
    ({"phrasings": {"one": 1}}, "phrasings", 'expected a list of texts, found {"one": 1}'),
    ({"sources": [{"url": "x"}]}, "sources", "expected objects with document and version"),
    ({"sources": 3}, "sources", "expected a list of documents, found 3"),
]


async def test_a_bad_row_is_refused_by_line_and_the_rest_is_kept(store: EntryStore, tmp_path: Path) -> None:
    good = {"question": "Good?", "answer": "Yes.", "language": "en"}
    bad = [{"question": "Bad?", "answer": "No.", "language": "en"} | row for row, _, _ in BAD_ROWS]
    lines = [good, *bad, good | {"question": "Also good?"}]
    refused = await imported(store, tmp_path / "e.jsonl", "\n".join(map(json.dumps, lines)))
    for line, (refusal, (_, field, expected)) in enumerate(zip(refused, BAD_ROWS, strict=True), start=2):
        assert (refusal.line, refusal.field) == (line, field)
        assert expected in refusal.expected
    assert (await store.list("shop")).total == 2


async def test_a_language_that_nobody_is_answered_in_is_refused_by_line(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    file.write_text(HEADER + "How?,So.,jp\nWhy?,So.,\nWhere?,Here.,ja\n", "utf-8")
    report = await import_entries(store, "shop", file, by="ann", language="en")
    (refused,) = report.refused
    assert (report.created, refused.line, refused.field) == (2, 2, "language")
    assert refused.expected == "expected en, ja or zh, found “jp”"


async def test_what_is_only_tried_says_what_would_become_of_it_and_keeps_nothing(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    file.write_text(HEADER + "How?,So.,en\n,no question,en\n", "utf-8")
    tried = await import_entries(store, "shop", file, by="ann", keep=False)
    assert (await store.list("shop")).total == 0
    assert tried == await import_entries(store, "shop", file, by="ann")
    assert (tried.created, [one.line for one in tried.refused]) == (1, [3])
    again = await import_entries(store, "shop", file, by="ann", keep=False)
    assert (again.created, again.unchanged, [one.line for one in again.refused]) == (0, 1, [3])


async def test_lines_are_counted_as_an_editor_counts_them(store: EntryStore, tmp_path: Path) -> None:
    text = HEADER + '"Two\nlines?","Answer\nhere",en\n\nNo language?,Answer,\nNo language?,Answer,,more\n'
    refused = await imported(store, tmp_path / "e.csv", text)
    assert [(one.line, one.field) for one in refused] == [(6, "language"), (7, "row")]
    assert refused[1].expected == "expected 3 cells, found 4"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("e.csv", "", "the file is empty"),
        ("e.jsonl", "", "the file is empty"),
        ("e.csv", "question,kind\nHow?,x\n", "missing columns: answer (found: question, kind)"),
        ("e.csv", HEADER.encode("utf-16"), "expected UTF-8 text, found UTF-16"),
        ("e.csv", "質問,答\n開館は,9時\n".encode("cp932"), "expected UTF-8 text: save it as"),
        ("e.csv", "question,answer\n料金は？,100円\n".encode("cp932"), "expected UTF-8 text: save it as"),
        (
            "e.csv",
            ("question,answer\n" + "fee?,5\n" * 20 + "费用？,100元\n").encode("gb18030"),
            "expected UTF-8 text",
        ),
        ("e.csv", "質問,回答\n料金は？,100円\n".encode("euc_jp"), "expected UTF-8 text: save it as"),
        ("e.csv", "question,質問,answer\nHow?,x,y\n", "more than one column for question"),
        ("e.csv", HEADER + '"never closed\nHow?,So.,en\n', "line 2"),
        ("e.csv", HEADER + '"closed" too early,So.,en\nHow?,So.,en\n', "line 2"),
        ("e.xlsx", b"PK\x03\x04 no workbook", "expected an XLSX workbook"),
        ("e.doc", "x", "expected a file that ends in .csv, .jsonl or .xlsx"),
    ],
)
async def test_a_file_that_is_no_table_is_refused_whole(
    store: EntryStore, tmp_path: Path, name: str, data: bytes | str, expected: str
) -> None:
    with pytest.raises(UnreadableTable) as refused:
        await imported(store, tmp_path / name, data)
    assert expected in str(refused.value)


async def test_a_workbook_with_a_broken_part_is_refused_whole(store: EntryStore, tmp_path: Path) -> None:
    file = workbook_of(tmp_path / "whole.xlsx", {"FAQ": FAQ})
    with ZipFile(file) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    for name in ("xl/workbook.xml", "xl/worksheets/sheet1.xml"):
        with ZipFile(tmp_path / "broken.xlsx", "w") as broken:
            for each, data in parts.items():
                broken.writestr(each, data[: len(data) // 2] if each == name else data)
        with pytest.raises(UnreadableTable, match="expected an XLSX workbook"):
            await import_entries(store, "shop", tmp_path / "broken.xlsx", by="ann")


async def test_a_number_of_thousands_of_digits_refuses_its_row_only(
    store: EntryStore, tmp_path: Path
) -> None:
    (refused,) = await imported(store, tmp_path / "e.jsonl", f'{{"question": {"1" * 5_000}}}\n')
    assert (refused.line, refused.field) == (1, "row")


async def test_bytes_that_are_no_text_refuse_their_row_only(store: EntryStore, tmp_path: Path) -> None:
    good = HEADER.encode() + b"Good?,Yes.,en\nB\xffad?,No.,en\n"
    (refused,) = await imported(store, tmp_path / "e.csv", good)
    assert (refused.line, refused.field) == (3, "phrasings")
    assert "UTF-8" in refused.expected
    lines = b'{"question": "Fine?", "answer": "Yes.", "language": "en"}\n{"question": "\xff"}\n[1]\n{"a":\n'
    refusals = await imported(store, tmp_path / "e.jsonl", lines)
    assert [one.line for one in refusals] == [2, 3, 4]
    assert [one.expected.split(":")[0] for one in refusals] == [
        "expected UTF-8 text",
        "expected a JSON object, found a list",
        "expected a JSON object",
    ]


@pytest.mark.parametrize(
    ("heads", "language"),
    [("質問,回答,言語", "ja"), ("问题,答案,语言", "zh"), ("Question,Answer,Language", "en")],
)
async def test_columns_may_be_headed_in_the_language_of_the_helpdesk(
    store: EntryStore, tmp_path: Path, heads: str, language: str
) -> None:
    assert await imported(store, tmp_path / "faq.csv", f"{heads}\nQ1,A1,{language}\n") == ()
    (entry,) = (await store.list("shop")).entries
    assert (entry.question, entry.answer, entry.language) == ("Q1", "A1", language)


@pytest.mark.parametrize(
    ("encoding", "text", "language"),
    [
        ("gb18030", "标准问题,答案,生效时间\n怎么付款？,刷卡或现金。,2026/9/25 0:00\n", "zh"),
        ("cp950", "問題,答案\n怎麼付款？,刷卡或現金。\n", "zh"),
        ("cp932", "質問;回答\n支払い方法は？;カードか現金です。\n", "ja"),
    ],
)
async def test_a_sheet_saved_as_spreadsheets_of_east_asia_do_is_read_by_its_headings(
    store: EntryStore, tmp_path: Path, encoding: str, text: str, language: str
) -> None:
    file = tmp_path / "faq.csv"
    file.write_bytes(text.encode(encoding))
    assert not (await import_entries(store, "shop", file, by="ann", language=language)).refused
    (entry,) = (await store.list("shop")).entries
    first = text.splitlines()[1]
    assert (entry.question, entry.answer) in [tuple(first.split(sign)[:2]) for sign in ",;"]
    assert entry.valid_from == (date(2026, 9, 25) if encoding == "gb18030" else None)


@pytest.mark.parametrize(
    "heads",
    [
        "标准问题,相似问法,标准答案",
        "知识标题,扩展问1,答案内容",
        "標準問題,相似問題1,標準答案",
        "質問内容,言い換え,回答内容",
    ],
)
async def test_the_headings_of_customer_service_systems_are_known(
    store: EntryStore, tmp_path: Path, heads: str
) -> None:
    assert not await imported(store, tmp_path / "faq.csv", f"{heads},language\nQ1,Q2,A1,zh\n")
    (entry,) = (await store.list("shop")).entries
    assert (entry.phrasings, entry.answer) == (("Q1", "Q2"), "A1")


async def test_further_columns_may_be_headed_so_as_well(store: EntryStore, tmp_path: Path) -> None:
    heads = "質問,回答,言語,別名,言い換え２,有効開始日,有効期限,見直し日,担当部署,出典"
    row = (
        '料金は？,5円です。,ja,"費用は\n値段は",いくら,2026-01-02,2026/4/1,２０２６年１２月３日,経理,料金.md'
    )
    assert await imported(store, tmp_path / "faq.csv", f"{heads}\n{row}\n") == ()
    assert not await imported(
        store,
        tmp_path / "b.csv",
        "问题,答案,语言,相似问,失效日期,负责人\n怎么付款？,刷卡。,zh,付款方式,2026.4.1,李\n",
    )
    zh, ja = sorted((await store.list("shop")).entries, key=lambda one: one.language, reverse=True)
    assert ja.phrasings == ("料金は？", "費用は", "値段は", "いくら")
    assert (ja.valid_from, ja.valid_until, ja.review_by) == (
        date(2026, 1, 2), date(2026, 4, 1), date(2026, 12, 3),
    )  # fmt: skip
    assert (ja.owner, ja.sources) == ("経理", (Source("料金.md", ""),))
    assert (zh.phrasings, zh.valid_until, zh.owner) == (("怎么付款？", "付款方式"), date(2026, 4, 1), "李")


@pytest.mark.parametrize(
    ("name", "text", "line", "columns"),
    [
        ("e.csv", "question,answer,language,備考,tag\nHow?,So.,en,,x\nWhy?,So.,en,,\n", 2, "“備考”, “tag”"),
        (
            "e.jsonl",
            '{"question": "How?", "answer": "So.", "language": "en"}\n'
            '{"question": "Why?", "answer": "So.", "language": "en", "questions": []}\n',
            2,
            "“questions”",
        ),
    ],
)
async def test_columns_that_nothing_is_read_from_are_told_once(
    store: EntryStore, tmp_path: Path, name: str, text: str, line: int, columns: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    report = await import_entries(store, "shop", tmp_path / name, by="ann")
    (remark,) = report.remarks
    assert (report.created, remark.line, remark.field) == (2, line, "columns")
    assert remark.says.startswith(f"not read: {columns}; known are id, kind, ")
    assert all(name in remark.says for name in ("valid_until", "phrasings", "phrasing_2 …"))
    await export_entries(store, "shop", tmp_path / name)
    assert (await import_entries(store, "shop", tmp_path / name, by="ann")).remarks == ()


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("令和8年4月1日", date(2026, 4, 1)),
        ("令和元年５月１日", date(2019, 5, 1)),
        ("R8.4.1", date(2026, 4, 1)),
        ("㍻31/4/30", date(2019, 4, 30)),
    ],
)
async def test_a_day_may_be_written_in_a_japanese_era(
    store: EntryStore, tmp_path: Path, written: str, day: date
) -> None:
    rows = f"質問,回答,言語,公開開始日,担当課\n料金は？,5円です。,ja,{written},経理課\n"
    assert await imported(store, tmp_path / "faq.csv", rows) == ()
    (entry,) = (await store.list("shop")).entries
    assert (entry.valid_from, entry.owner) == (day, "経理課")


async def test_spreadsheet_habits_are_understood(store: EntryStore, tmp_path: Path) -> None:
    assert not await imported(
        store, tmp_path / "a.csv", "\ufeffQuestion;Answer;Language\nSemicolons?;Yes;en\n"
    )
    assert not await imported(store, tmp_path / "b.csv", "question\tanswer\tlanguage\nTabs?\tYes\ten\n")
    workbook = Workbook()
    workbook.active.append(["question", "answer", "language", "phrasing_2", "valid_from", None])
    workbook.active.append([404, 5.0, "en", True, date(2026, 4, 1), None])
    workbook.save(tmp_path / "c.xlsx")
    assert (await import_entries(store, "shop", tmp_path / "c.xlsx", by="ann")).created == 1
    found = {entry.question: entry for entry in (await store.list("shop")).entries}
    assert set(found) == {"Semicolons?", "Tabs?", "404"}
    assert (found["404"].phrasings, found["404"].answer) == (("404", "true"), "5")
    assert found["404"].valid_from == date(2026, 4, 1)


async def test_an_end_of_line_that_xml_has_no_letter_for_is_one(store: EntryStore, tmp_path: Path) -> None:
    workbook = Workbook()
    workbook.active.append(["question", "answer", "language"])
    workbook.active.append(["How?", "First this._x000D_\nThen that.", "en"])
    workbook.save(tmp_path / "faq.xlsx")
    await import_entries(store, "shop", tmp_path / "faq.xlsx", by="ann")
    (entry,) = (await store.list("shop")).entries
    assert entry.answer == "First this.\nThen that."


async def test_errors_of_a_sheet_are_no_texts(store: EntryStore, tmp_path: Path) -> None:
    workbook = Workbook()
    workbook.active.append(["question", "answer", "language", "phrasing_2", "sources"])
    rows = [
        ["One?", "#N/A"],
        ["#REF!", "1"],
        ["Two?", "2", "en", "#NAME?"],
        ["Three?", "3", "en", None, "#n/a"],
    ]
    for row in [*rows, ["What does #N/A mean?", "#N/A means that nothing was found."]]:
        workbook.active.append([*row, "en"] if len(row) == 2 else row)
    workbook.save(tmp_path / "faq.xlsx")
    report = await import_entries(store, "shop", tmp_path / "faq.xlsx", by="ann")
    assert [(one.line, one.field) for one in report.refused] == [
        (2, "answer"), (3, "question"), (4, "phrasing_2"), (5, "sources"),
    ]  # fmt: skip
    assert report.refused[0].expected == "expected a text, found the error “#N/A” of the sheet"
    assert [one.question for one in (await store.list("shop")).entries] == ["What does #N/A mean?"]


def workbook_of(path: Path, sheets: dict[str, list[str]]) -> Path:
    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, header in sheets.items():
        sheet = workbook.create_sheet(name)
        sheet.append(header)
        sheet.append(["How?", "So.", "en"])
    workbook.save(path)
    return path


COVER, FAQ = ["FAQ一覧", "2026年版"], ["質問", "回答", "言語"]


async def test_the_sheet_of_a_workbook_that_has_the_columns_is_read(
    store: EntryStore, tmp_path: Path
) -> None:
    file = workbook_of(tmp_path / "faq.xlsx", {"表紙": COVER, "FAQ": FAQ, "空": []})
    report = await import_entries(store, "shop", file, by="ann")
    assert (report.created, report.refused) == (1, ())


@pytest.mark.parametrize(
    ("sheets", "expected"),
    [
        (
            {"表紙": COVER, "一覧": ["質問", "答"]},
            "no sheet has question, answer in its first 10 rows (“表紙”: faq一覧, 2026年版; “一覧”: question, 答)",
        ),
        ({"FAQ": FAQ, "old": FAQ}, "expected one sheet with question, answer, found “FAQ”, “old”"),
        ({"表紙": COVER}, "missing columns: question, answer (found: faq一覧, 2026年版)"),
    ],
)
async def test_a_workbook_without_such_a_sheet_is_refused_with_their_names(
    store: EntryStore, tmp_path: Path, sheets: dict[str, list[str]], expected: str
) -> None:
    with pytest.raises(UnreadableTable) as refused:
        await import_entries(store, "shop", workbook_of(tmp_path / "faq.xlsx", sheets), by="ann")
    assert expected in str(refused.value)


async def test_an_id_that_comes_twice_is_refused_the_second_time(store: EntryStore, tmp_path: Path) -> None:
    text = "id,question,answer,language\na,One?,1,en\na,Two?,2,en\n"
    (refused,) = await imported(store, tmp_path / "e.csv", text)
    assert refused == Refusal(3, "id", "expected another than in line 2, found “a” again")


async def test_a_phrasing_of_another_entry_is_refused_with_its_name(
    store: EntryStore, tmp_path: Path
) -> None:
    await store.create("shop", content("One?"), by="ann", state="active", entry_id="a")
    (refused,) = await imported(store, tmp_path / "e.csv", HEADER + "ONE!,2,en\n")
    assert refused == Refusal(
        2,
        "phrasings",
        "“ONE!” already belongs to the active entry a; "
        "to change it, edit its row of an export, where its id stands, and import that",
        "duplicate",
    )


async def test_a_question_that_stands_twice_in_a_file_is_refused_with_the_other_line(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    text = HEADER + "One?,1,en\nTwo?,2,en\nONE!,1,en\n"
    for _ in range(2):  # the second time line 2 changes nothing, and is still the one that was met
        (refused,) = await imported(store, file, text)
        assert refused == Refusal(4, "phrasings", "“ONE!” stands in line 2 already", "duplicate")


async def test_a_row_that_contradicts_an_earlier_one_is_refused_as_such(
    store: EntryStore, tmp_path: Path
) -> None:
    text = HEADER + "One?,1,en\nONE!,2,en\n"
    for _ in range(2):
        (refused,) = await imported(store, tmp_path / "faq.csv", text)
        expected = "“ONE!” stands in line 2 already, with another answer, which was taken"
        assert refused == Refusal(3, "phrasings", expected, "contradicted")


async def test_an_export_that_is_edited_and_imported_changes_the_answers(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    assert await imported(store, file, HEADER + "One?,1,en\nTwo?,2,en\n") == ()
    await export_entries(store, "shop", file)
    report = await import_entries(store, "shop", file, by="ann")
    assert (report.edited, report.unchanged) == (0, 2)
    assert await imported(store, file, file.read_text("utf-8-sig").replace("Two?,2", "Two?,3")) == ()
    assert sorted(one.answer for one in (await store.list("shop")).entries) == ["1", "3"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx"])
async def test_an_earlier_export_undoes_nothing_that_people_changed_since(
    store: EntryStore, tmp_path: Path, form: str
) -> None:
    for name in ("edited", "paused", "left"):
        await store.create("shop", content(f"{name}?", answer="1"), by="ann", state="active", entry_id=name)
    file = tmp_path / f"faq.{form}"
    await export_entries(store, "shop", file)
    edited = await store.get("shop", "edited")
    await store.edit("shop", "edited", replace(content_of(edited), answer="2"), revision=1, by="sato")
    await store.change_state("shop", "paused", "paused", revision=1, by="sato")
    report = await import_entries(store, "shop", file, by="ben")
    assert (report.edited, report.unchanged, report.remarks) == (0, 1, ())
    assert [(one.field, one.why) for one in report.refused] == [("revision", "changed")] * 2
    expected = "the entry paused changed since it was exported: it is paused now, at revision 2"
    assert any(one.expected == f"{expected}; export it again, and edit that" for one in report.refused)
    after = {one.id: (one.answer, one.state) for one in (await store.list("shop")).entries}
    assert after == {"edited": ("2", "active"), "paused": ("1", "paused"), "left": ("1", "active")}


async def test_an_edited_export_is_imported_twice_and_changes_nothing_the_second_time(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    await imported(store, file, HEADER + "One?,1,en\nTwo?,2,en\n")
    await export_entries(store, "shop", file)
    file.write_text(file.read_text("utf-8-sig").replace("Two?,2,active", "Two?,3,paused"), "utf-8")
    first = await import_entries(store, "shop", file, by="ann")
    assert (first.edited, first.unchanged, first.refused, first.remarks) == (1, 1, (), ())
    again = await import_entries(store, "shop", file, by="ann")
    assert (again.edited, again.unchanged, again.refused) == (0, 2, ())


@pytest.mark.parametrize(
    ("revision", "remarks", "refused"),
    [("", ["paused"], []), ("2", [], []), ("2.0", [], []), ("1", [], ["changed"]), ("B", [], [""])],
    ids=["none", "the present one", "as a fraction", "an old one", "no number"],
)
async def test_a_row_brings_back_what_was_withdrawn_with_the_present_revision_or_a_remark(
    store: EntryStore, tmp_path: Path, revision: str, remarks: list[str], refused: list[str]
) -> None:
    await store.create("shop", content("Two?", answer="2"), by="ann", state="active", entry_id="two")
    await store.change_state("shop", "two", "paused", revision=1, by="ann")
    file = tmp_path / "faq.csv"
    file.write_text(f"id,revision,{HEADER}two,{revision},Two?,2,en\n,{revision},One?,1,en\n", "utf-8")
    report = await import_entries(store, "shop", file, by="ann")
    assert report.created == 1  # a row without an id has no revision, whatever its sheet calls so
    assert [(one.field, one.found) for one in report.remarks] == [("state", one) for one in remarks]
    assert [one.why for one in report.refused] == refused
    assert (await store.get("shop", "two")).state == ("paused" if refused else "active")


@pytest.mark.parametrize("state", ["paused", "stale", "retired"])
async def test_a_sheet_that_comes_in_again_brings_back_nothing_that_was_withdrawn(
    store: EntryStore, tmp_path: Path, state: EntryState
) -> None:
    file = tmp_path / "faq.csv"
    assert await imported(store, file, HEADER + "One?,1,en\nTwo?,2,en\n") == ()
    (two,) = [one for one in (await store.list("shop")).entries if one.question == "Two?"]
    taken = await store.edit(  # a learnt phrasing and an owner don't make it another answer
        "shop", two.id, replace(content_of(two), phrasings=("Two?", "2?"), owner="ann"), revision=1, by="ann"
    )
    taken = await store.change_state("shop", two.id, state, revision=taken.revision, by="ann")
    sheet = HEADER + 'One?,1,en\nTWO,"2 ",en\nTwo?,3,en\n'
    (refused,) = await imported(store, file, sheet)
    assert (refused.line, refused.field, refused.why) == (3, "state", "withdrawn")
    assert f"the entry {two.id} is {state} (last changed on {taken.updated_at:%Y-%m-%d})" in refused.expected
    assert "a row with that id brings it back" in refused.expected
    found = (await store.list("shop", Filters(state="active"))).entries
    assert sorted((one.question, one.answer) for one in found) == [("One?", "1"), ("Two?", "3")]


async def test_the_id_of_a_withdrawn_entry_brings_it_back(store: EntryStore, tmp_path: Path) -> None:
    await store.create("shop", content("Two?", answer="2"), by="ann", state="retired", entry_id="two")
    assert await imported(store, tmp_path / "faq.csv", f"id,{HEADER}two,Two?,2,en\n,Two?,2,en\n") == ()
    assert [one.state for one in (await store.list("shop")).entries] == ["active"]


async def test_what_was_withdrawn_for_others_or_another_time_says_nothing_of_a_row(
    store: EntryStore, tmp_path: Path
) -> None:
    staff = content("Bonus?", answer="In March.", group="staff")
    past = content("Fee?", answer="5 euros.", valid_until=date(2025, 12, 31))
    for one in (staff, past):
        await store.create("shop", one, by="ann", state="retired")
    rows = "board,Bonus?,In March.,en,\n,Fee?,5 euros.,en,2026-01-01\n"
    assert await imported(store, tmp_path / "faq.csv", f"group,{HEADER[:-1]},valid_from\n{rows}") == ()


async def test_a_sheet_without_ids_comes_in_again_and_only_what_changed_is_refused(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "faq.csv"
    assert await imported(store, file, "question,answer,language\nOne?,1,en\nTwo?,2,en\n") == ()
    (before,) = [one for one in (await store.list("shop")).entries if one.question == "Two?"]
    (refused,) = await imported(store, file, "question,answer,language\nOne?,1,en\nTwo?,3,en\nThree?,3,en\n")
    assert (refused.line, before.id in refused.expected) == (3, True)
    found = (await store.list("shop")).entries
    assert sorted((one.question, one.answer, one.revision) for one in found) == [
        ("One?", "1", 1),
        ("Three?", "3", 1),
        ("Two?", "2", 1),
    ]


async def test_a_paused_row_without_an_id_pauses_nothing_that_is_there(
    store: EntryStore, tmp_path: Path
) -> None:
    text = "question,answer,language,state\nOne?,1,en,{state}\n"
    for state in ("active", "paused"):
        assert await imported(store, tmp_path / "faq.csv", text.format(state=state)) == ()
    assert sorted(one.state for one in (await store.list("shop")).entries) == ["active", "paused"]


async def test_formulas_stay_text_in_a_spreadsheet(store: EntryStore, tmp_path: Path) -> None:
    await store.create("shop", content("=1+1"), by="ann")
    await export_entries(store, "shop", tmp_path / "e.xlsx")
    row = next(load_workbook(tmp_path / "e.xlsx").active.iter_rows(min_row=2))
    assert [cell.data_type for cell in row if cell.value == "=1+1"] == ["s"]


async def test_no_cell_of_an_exported_csv_is_a_formula(store: EntryStore, tmp_path: Path) -> None:
    """A phrasing may be an asker's own words; they come back as they were."""
    texts = ("=1+1", "@SUM(1)", "＝1", "-5 degrees?", "'=2", "it's fine")
    await store.create("shop", content(*texts, answer="+81 3 1234"), by="ann")
    await export_entries(store, "shop", tmp_path / "e.csv")
    with (tmp_path / "e.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "＝", "-", "+"))]
    (before,) = (await store.list("shop")).entries
    await import_entries(store, "shop", tmp_path / "e.csv", by="ann")
    (after,) = (await store.list("shop")).entries
    assert (after.phrasings, after.answer, after.revision) == (texts, "+81 3 1234", before.revision)


async def test_a_long_file_comes_in_batches_with_progress(store: EntryStore, tmp_path: Path) -> None:
    rows = (json.dumps({"question": f"Question {n}?", "answer": "x", "language": "en"}) for n in range(1_100))
    path = tmp_path / "e.jsonl"
    path.write_text("\n".join(rows), "utf-8")
    seen: list[int] = []
    report = await import_entries(store, "shop", path, by="ann", progress=seen.append)
    assert (report.created, seen) == (1_100, [500, 500, 100])


async def test_a_file_of_long_rows_comes_in_smaller_batches(store: EntryStore, tmp_path: Path) -> None:
    """Nobody is answered while a batch is read."""

    def row(number: int) -> str:
        phrasings = [f"{number} {other} " + "word " * 390 for other in range(100)]
        return json.dumps({"question": f"{number}?", "phrasings": phrasings, "answer": "x", "language": "en"})

    path = tmp_path / "e.jsonl"
    path.write_text("\n".join(map(row, range(5))), "utf-8")
    seen: list[int] = []
    report = await import_entries(store, "shop", path, by="ann", progress=seen.append)
    assert (report.created, seen) == (5, [2, 2, 1])


def test_the_evaluation_form_is_read_as_entries(tmp_path: Path) -> None:
    path = tmp_path / "faq.entries.jsonl"
    path.write_text(
        '{"entry_id": "pay", "questions": ["How?", "Pay?"], "lang": "en"}\n{"lang": "en"}\n', "utf-8"
    )
    with pytest.raises(InvalidEntry, match="line 2: expected the key 'questions'"):
        read_faq(path)
    path.write_text('{"entry_id": "pay", "questions": ["How?", "Pay?"], "lang": "en"}\n', "utf-8")
    (entry,) = read_faq(path)
    assert (entry.id, entry.content.phrasings, entry.content.answer) == ("pay", ("How?", "Pay?"), "pay")


async def test_a_file_that_names_no_groups_opens_no_entry_to_others(
    store: EntryStore, tmp_path: Path
) -> None:
    await store.create("shop", content("Bonus?", group="staff"), by="ann", state="active", entry_id="bonus")
    file = tmp_path / "entries.csv"
    assert await imported(store, file, f"id,{HEADER}bonus,Bonus?,In March.,en\nnew,Pay?,By card.,en\n") == ()
    bonus, pay = await store.get("shop", "bonus"), await store.get("shop", "new")
    assert (bonus.answer, bonus.group, pay.group) == ("In March.", "staff", "")
    assert (
        await imported(store, file, f"group,id,{HEADER},bonus,Bonus?,In March.,en\nStaff,new,Pay?,x,en\n")
        == ()
    )
    bonus, pay = await store.get("shop", "bonus"), await store.get("shop", "new")
    assert (bonus.group, pay.group) == ("", "staff")


async def test_an_entry_whose_last_day_has_passed_is_told(store: EntryStore, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(
        f"question,answer,language,valid_until\nHow?,So.,en,2020-01-31\nWhy?,So.,en,{store.today}\n", "utf-8"
    )
    report = await import_entries(store, "shop", tmp_path / "e.csv", by="ann")
    (remark,) = report.remarks
    assert (report.created, remark.line, remark.field) == (2, 2, "valid_until")
    assert remark.says == "its last day was 2020-01-31, so nobody is served its answer"


@pytest.mark.parametrize("row", ['"Why?,So.,en', 'Why?,So.,"en\n', '"Why" not?,So.,en\n'])
async def test_a_quotation_mark_without_its_other_in_the_last_line_refuses_that_line(
    store: EntryStore, tmp_path: Path, row: str
) -> None:
    [refusal] = await imported(store, tmp_path / "e.csv", f"{HEADER}How?,So.,en\n{row}")
    assert (refusal.line, refusal.field) == (3, "row")
    assert refusal.expected.startswith("expected quotation marks in pairs: ")
    assert [one.question for one in (await store.list("shop")).entries] == ["How?"]


async def test_an_answer_that_is_a_formula_is_remarked_on_when_it_is_new(
    store: EntryStore, tmp_path: Path
) -> None:
    file = tmp_path / "e.csv"
    file.write_text(HEADER + "How?,=HYPERLINK(1),en\nWhy?,- so\u3002,en\nどこ？,＝A1,ja\n", "utf-8")
    report = await import_entries(store, "shop", file, by="ann")
    assert [(one.line, one.field, one.found) for one in report.remarks] == [
        (2, "answer", "="),
        (4, "answer", "＝"),
    ]
    assert report.remarks[0].says == "it begins with “=”: the formula itself is served, not what it gives"
    again = await import_entries(store, "shop", file, by="ann")
    assert (again.unchanged, again.remarks) == (3, ())


async def test_a_refused_row_is_not_told_of_among_the_imported(store: EntryStore, tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    file.write_text(f"{HEADER}Q1. How?,So.,en\nQ2. How?,No.,en\n", "utf-8")
    report = await import_entries(store, "shop", file, by="ann")
    assert [one.line for one in report.refused] == [3]
    (remark,) = report.remarks
    assert (remark.line, remark.found) == (2, "“Q1.”")
    assert "in 1 row, as" in remark.says
