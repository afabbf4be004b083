"""Sheets as offices keep them: titles above the headings, merged cells, formulas, numbered questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.styles.numbers import BUILTIN_FORMATS
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


SOLVED = [["休館日は？", "月曜です。"]] * 10  # more rows than headings are looked for in


@pytest.mark.parametrize(
    "row",
    [
        ["=A1", "9時です。"],
        ["開館は？", '="9時です。"'],
        ['="開館は"&"？"', '="9時"&"です。"'],
        ["開館は？", "9時です。", None, '="何時"&"から"'],
        ["開館は？", "9時です。", None, None, "=TODAY()"],
    ],
    ids=["question", "answer", "both", "phrasing", "last day"],
)
async def test_a_workbook_whose_formulas_were_never_worked_out_is_refused_with_the_remedy(
    store: EntryStore, tmp_path: Path, row: list[str]
) -> None:
    heads = [*HEADINGS, "別名", "有効期限"]
    file = workbook_of(tmp_path / "faq.xlsx", [heads, ["休館日は？", None], *SOLVED, row])
    with pytest.raises(
        UnreadableTable, match="line 13: its formulas were never worked out: open it in a spreadsheet program"
    ) as refused:
        await imported(store, file)
    assert refused.value.why == "formulas"
    assert (await store.list("shop")).total == 0


async def test_a_formula_in_a_column_that_nobody_reads_refuses_nothing(
    store: EntryStore, tmp_path: Path
) -> None:
    rows = [["No.", "=A1&1"], ["No.", *HEADINGS], ["=ROW()-2", "休館日は？", "月曜です。"]]
    assert (await imported(store, workbook_of(tmp_path / "faq.xlsx", rows))).created == 1


async def test_a_formula_that_gives_nothing_refuses_its_row_only(store: EntryStore, tmp_path: Path) -> None:
    made = workbook_of(tmp_path / "made.xlsx", [HEADINGS, ["開館は？", '=""'], ["休館日は？", "月曜です。"]])
    with ZipFile(made) as whole, ZipFile(tmp_path / "saved.xlsx", "w") as saved:
        for name in whole.namelist():  # as spreadsheet programs save an empty text
            data = whole.read(name).replace(b'<c r="B2"><f>', b'<c r="B2" t="str"><f>')
            saved.writestr(name, data)
    report = await imported(store, tmp_path / "saved.xlsx")
    assert (report.created, [(one.line, one.field) for one in report.refused]) == (1, [(2, "answer")])


SHOWN: list[tuple[Any, str, str]] = [
    (0.1, "0%", "10%"),
    (120999888, "0000-000-000", "0120-999-888"),
    (1980, '#,##0"円"', "1,980円"),
    (1980, "General", "1980"),
    (1980, BUILTIN_FORMATS[38], "1,980"),
    (time(9), "h:mm", "9:00"),
    (timedelta(hours=30), "[h]:mm", "30:00"),
    (date(2026, 4, 1), 'yyyy"年"m"月"d"日"', "2026年4月1日"),
    (date(2026, 4, 1), '[$-411]ggge"年"m"月"d"日"', "令和8年4月1日"),
]
UNKNOWN: list[tuple[Any, str, str]] = [
    (0.5, "# ?/?", "found 0.5 in cell B2, whose format “# ?/?” can't be read"),
    (-1980, BUILTIN_FORMATS[38], "found -1980 in cell B2"),  # -1,980 in Japan, (1,980) elsewhere
    (1980, BUILTIN_FORMATS[5], "found 1980 in cell B2"),  # the currency is the computer's
    (date(2026, 4, 1), BUILTIN_FORMATS[14], "found 2026-04-01 00:00:00 in cell B2"),  # and so is the order
]


def formatted(path: Path, rows: Sequence[tuple[Any, str, str]], *, place: str = "B") -> Path:
    workbook = Workbook()
    sheet: Worksheet = workbook.worksheets[0]
    sheet.append([*HEADINGS, "備考"])
    for line, (value, code, _) in enumerate(rows, 2):
        sheet.append([f"{'一二三四五六七八九'[line - 2]}番は？", "あります。"])
        sheet[f"{place}{line}"] = value
        sheet[f"{place}{line}"].number_format = code
    workbook.save(path)
    return path


async def test_numbers_days_and_times_are_read_as_their_sheet_shows_them(
    store: EntryStore, tmp_path: Path
) -> None:
    report = await imported(store, formatted(tmp_path / "faq.xlsx", SHOWN))
    assert (report.created, report.refused) == (len(SHOWN), ())
    answers = {one.question: one.answer for one in (await store.list("shop")).entries}
    shown = {
        f"{place}番は？": answer for place, (_, _, answer) in zip("一二三四五六七八九", SHOWN, strict=True)
    }
    assert answers == shown


@pytest.mark.parametrize(("value", "code", "found"), UNKNOWN)
async def test_a_number_whose_look_nobody_can_tell_refuses_its_row_with_cell_and_format(
    store: EntryStore, tmp_path: Path, value: Any, code: str, found: str
) -> None:
    rows = [(value, code, ""), SHOWN[0]]
    report = await imported(store, formatted(tmp_path / "faq.xlsx", rows))
    (refused,) = report.refused
    assert (report.created, refused.line, refused.field, refused.why) == (1, 2, "answer", "format")
    assert found in refused.expected
    beside = await imported(store, formatted(tmp_path / "beside.xlsx", [(value, code, "")], place="D"))
    assert (beside.created, beside.refused) == (1, ())  # nobody reads that column


async def test_a_day_in_a_column_of_days_is_read_whatever_it_looks_like(
    store: EntryStore, tmp_path: Path
) -> None:
    workbook = Workbook()
    sheet: Worksheet = workbook.worksheets[0]
    sheet.append([*HEADINGS, "有効期限"])
    for line, code in enumerate((BUILTIN_FORMATS[14], 'm"月"d"日"', "d-mmm-yy"), 2):
        sheet.append([f"{line}番は？", "あります。", None, date(2099, 4, 1)])
        sheet[f"D{line}"].number_format = code
    workbook.save(tmp_path / "faq.xlsx")
    assert (await imported(store, tmp_path / "faq.xlsx")).refused == ()
    assert {one.valid_until for one in (await store.list("shop")).entries} == {date(2099, 4, 1)}


async def test_a_format_that_a_file_names_by_its_number_only_is_known_or_refuses_its_row(
    store: EntryStore, tmp_path: Path
) -> None:
    rows = [(46113, "0.000", ""), (46113, "0.0000", "")]
    made = formatted(tmp_path / "made.xlsx", rows)
    with ZipFile(made) as whole, ZipFile(tmp_path / "saved.xlsx", "w") as saved:
        for name in whole.namelist():  # as spreadsheet programs of East Asia name theirs
            data = whole.read(name).replace(b'<xf numFmtId="164"', b'<xf numFmtId="31"')
            saved.writestr(name, data.replace(b'<xf numFmtId="165"', b'<xf numFmtId="57"'))
    report = await imported(store, tmp_path / "saved.xlsx")
    assert [(one.line, one.field, one.why) for one in report.refused] == [(3, "answer", "format")]
    (entry,) = (await store.list("shop")).entries
    assert entry.answer == "2026年4月1日"


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
