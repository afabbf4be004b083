"""Sheets as offices keep them: titles above the headings, merged cells, formulas, numbered questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from cache.errors import UnreadableTable
from cache.store import EntryStore
from cache.transfer import ImportReport, export_entries, import_entries
from cache.transfer.numbering import split_number
from tests.cache.shelves import content

TITLES = [["市民FAQ一覧"], [], ["令和8年度版", None, "総務課"]]
HEADINGS = ["質問", "回答", "担当課"]


def workbook_of(path: Path, rows: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> Path:
    workbook = Workbook()
    sheet: Worksheet = workbook.worksheets[0]
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    workbook.save(path)
    return path


async def imported(store: EntryStore, path: Path, language: str = "ja") -> ImportReport:
    return await import_entries(store, "shop", path, by="ann", language=language)


async def owners(store: EntryStore) -> dict[str, str]:
    return {one.question: one.owner for one in (await store.list("shop")).entries}


async def test_headings_of_a_workbook_may_stand_below_its_title(store: EntryStore, tmp_path: Path) -> None:
    rows = [
        *TITLES,
        HEADINGS,
        ["休館日は？", "月曜です。", "図書館"],
        ["料金は？", ""],
        ["駐車場は？", "あります。"],
    ]
    report = await imported(store, workbook_of(tmp_path / "faq.xlsx", rows))
    assert (report.created, [one.line for one in report.refused]) == (2, [6])
    assert await owners(store) == {"休館日は？": "図書館", "駐車場は？": ""}


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
@pytest.mark.parametrize("delimiter", [",", "\t"])
async def test_headings_of_csv_may_stand_below_its_title(
    store: EntryStore, tmp_path: Path, encoding: str, delimiter: str
) -> None:
    file = tmp_path / "faq.csv"
    text = '市民FAQ一覧\n"令和8年度\n第2版",,\n\n質問,回答,担当課\n休館日は？,月曜です。,図書館\n料金は？,,\n'
    file.write_bytes(text.replace(",", delimiter).encode(encoding))
    report = await imported(store, file)
    assert (report.created, [one.line for one in report.refused]) == (1, [7])
    assert await owners(store) == {"休館日は？": "図書館"}


async def test_headings_are_looked_for_in_ten_rows_and_the_nearest_thing_to_them_is_shown(
    store: EntryStore, tmp_path: Path
) -> None:
    for titles, found in ((9, True), (10, False)):
        rows = [["一覧"]] * titles + [HEADINGS, ["休館日は？", "月曜です。", "図書館"]]
        file = workbook_of(tmp_path / "faq.xlsx", rows)
        if found:
            assert (await imported(store, file)).created == 1
        else:
            with pytest.raises(UnreadableTable, match="missing columns: question, answer"):
                await imported(store, file)
    near = workbook_of(tmp_path / "near.xlsx", [["一覧"], ["質問", "答", "担当課"]])
    with pytest.raises(UnreadableTable, match=r"missing columns: answer \(found: question, 答, owner\)"):
        await imported(store, near)


async def test_a_merged_cell_of_a_shared_column_holds_for_all_of_its_rows(
    store: EntryStore, tmp_path: Path
) -> None:
    rows = [
        ["市民FAQ一覧"], HEADINGS, ["一？", "1", "図書館"], ["二？", "2"], [], ["三？", "3"], ["四？", "4"],
        ["五？", "5", "市民課"], ["六？", "6"],
    ]  # fmt: skip
    await imported(store, workbook_of(tmp_path / "faq.xlsx", rows, ["A1:C1", "C3:C6", "C8:C9"]))
    expected = {
        "一？": "図書館",
        "二？": "図書館",
        "三？": "図書館",
        "四？": "",
        "五？": "市民課",
        "六？": "市民課",
    }
    assert await owners(store) == expected


async def test_a_merged_answer_or_heading_holds_for_no_other_row(store: EntryStore, tmp_path: Path) -> None:
    rows = [HEADINGS, ["（必須）", "（必須）"], ["一？", "1", "図書館"], ["二？"]]
    file = workbook_of(tmp_path / "faq.xlsx", rows, ["C1:C2", "B3:B4"])
    report = await imported(store, file)
    assert [(one.line, one.field) for one in report.refused] == [(4, "answer")]
    assert await owners(store) == {"（必須）": "", "一？": "図書館"}


@pytest.mark.parametrize("row", [["=A1", "9時です。"], ["開館は？", '="9時です。"']])
async def test_a_workbook_whose_formulas_were_never_worked_out_is_refused_with_the_remedy(
    store: EntryStore, tmp_path: Path, row: list[str]
) -> None:
    file = workbook_of(tmp_path / "faq.xlsx", [HEADINGS, ["休館日は？", None], row])
    with pytest.raises(
        UnreadableTable, match="open it in a spreadsheet program, and save it once"
    ) as refused:
        await imported(store, file)
    assert refused.value.why == "formulas"


async def test_a_formula_that_gives_nothing_refuses_its_row_only(store: EntryStore, tmp_path: Path) -> None:
    made = workbook_of(tmp_path / "made.xlsx", [HEADINGS, ["開館は？", '=""'], ["休館日は？", "月曜です。"]])
    with ZipFile(made) as whole, ZipFile(tmp_path / "saved.xlsx", "w") as saved:
        for name in whole.namelist():  # as spreadsheet programs save an empty text
            data = whole.read(name).replace(b'<c r="B2"><f>', b'<c r="B2" t="str"><f>')
            saved.writestr(name, data)
    report = await imported(store, tmp_path / "saved.xlsx")
    assert (report.created, [(one.line, one.field) for one in report.refused]) == (1, [(2, "answer")])


NUMBERED = """
①図書館の休館日 | ㉑　図書館の休館日 | ⑴図書館の休館日 | Q1. 図書館の休館日 | Ｑ１．図書館の休館日 | Q1：図書館の休館日
Q1 図書館の休館日 | Q: 図書館の休館日 | Q　図書館の休館日 | 【Q1】図書館の休館日 | (3) 図書館の休館日 | （３）図書館の休館日
問5　図書館の休館日 | 問：図書館の休館日 | 第2問　図書館の休館日 | 質問3：図書館の休館日 | 问1、図書館の休館日 | 1. 図書館の休館日
１．図書館の休館日 | 1) 図書館の休館日 | 2、図書館の休館日 | 1-2. 図書館の休館日 | Question 2: 図書館の休館日 | Q No.3 図書館の休館日
"""
LEFT = """
5歳児の健診 | 3月のごみ | 1号認定とは | 1.5倍の料金 | １．５倍の料金 | 1、2歳児クラス | 3.11の追悼 | 24時間開いていますか | ①と②の違い
①の欄 | (1)から(3)まで | (5歳以上)の料金 | 第1号被保険者 | 問い合わせ先 | 問題があるとき | Q&Aはどこ | QRコード決済 | Q1の予算
Q3 earnings | 4.x の違い | 2 factor login | 10:00から | (3) | ① | Q1. 2 | 問 | 12
"""


def listed(table: str) -> list[str]:
    return [one.strip() for line in table.strip().splitlines() for one in line.split(" | ")]


@pytest.mark.parametrize("text", listed(NUMBERED))
def test_a_number_or_mark_before_a_question_is_taken_off(text: str) -> None:
    assert split_number(text)[1] == "図書館の休館日"


@pytest.mark.parametrize("text", listed(LEFT))
def test_a_number_that_the_question_is_about_stays(text: str) -> None:
    assert split_number(text) == ("", text)


async def test_numbered_questions_are_found_as_they_are_asked_and_a_remark_says_so(
    store: EntryStore, tmp_path: Path
) -> None:
    rows = [
        ["質問", "回答", "別名"],
        ["図書館は？", "(1) 駅前です。", None],
        ["①休館日は？", "(1) 月曜です。", "Q1. いつ休み？\n5歳児も休み？"],
        ["②料金は？", "①無料です。", None],
    ]
    report = await imported(store, workbook_of(tmp_path / "faq.xlsx", rows))
    assert (report.created, report.refused) == (3, ())
    (remark,) = report.remarks
    assert (remark.line, remark.field, remark.found) == (3, "numbering", "“①”, “②”")
    assert remark.says == "taken off before the question in 2 rows, as nobody types it who asks: “①”, “②”"
    found = {one.answer: one.phrasings for one in (await store.list("shop")).entries}
    assert found == {
        "(1) 駅前です。": ("図書館は？",),
        "(1) 月曜です。": ("休館日は？", "いつ休み？", "5歳児も休み？"),
        "①無料です。": ("料金は？",),
    }


async def test_an_exported_workbook_can_be_read_by_people(store: EntryStore, tmp_path: Path) -> None:
    await store.create("shop", content("How?", answer="First this.\nThen that."), by="ann")
    await export_entries(store, "shop", tmp_path / "e.xlsx")
    sheet = load_workbook(tmp_path / "e.xlsx").worksheets[0]
    column = {cell.value: cell.column_letter for cell in sheet[1]}
    assert sheet.freeze_panes == "A2"
    assert (
        sheet.column_dimensions[column["answer"]].width > sheet.column_dimensions[column["state"]].width > 10
    )
    assert sheet[f"{column['answer']}2"].alignment.wrap_text
    assert sheet["A1"].font.bold
