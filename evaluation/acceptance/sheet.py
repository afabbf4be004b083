"""The sheet on which a judge without access to the console votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.datavalidation import DataValidation

from evaluation.workbooks import HEAD, WRAPPED, across, row_height, save
from gateway.errors import InvalidRequest
from gateway.exports import sheet_text
from gateway.review.acceptance_tests import Better, Pair, Side

__all__ = ["read_sheet", "write_sheet"]

_COLUMNS = {"number": 9, "question": 40, "A": 60, "B": 60, "better": 12, "critical": 12, "why": 40}
_BETTER: dict[str, Better] = {"A": "left", "B": "right", "SAME": "same"}
_CRITICAL: dict[str, tuple[Side, ...]] = {"": (), "A": ("left",), "B": ("right",), "BOTH": ("left", "right")}


def write_sheet(file: Path, test: str, pairs: Sequence[Pair]) -> None:
    """Write the pairs with empty cells to choose in.

    Raises:
        InvalidRequest: if it can't be written.
    """
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None  # noqa: S101 - a new workbook has one
    sheet.title = test[:31]
    sheet.append(list(_COLUMNS))
    for place, (name, width) in enumerate(_COLUMNS.items()):
        sheet.column_dimensions["ABCDEFG"[place]].width = width
        sheet.cell(1, place + 1).font = HEAD
        sheet.cell(1, place + 1).value = name
    across(sheet)
    for row, pair in enumerate(pairs, 2):
        texts = (pair.question, 40), (pair.left, 60), (pair.right, 60)
        sheet.row_dimensions[row].height = row_height(texts)
        sheet.cell(row, 1).value = pair.number
        for column, text in enumerate((pair.question, pair.left, pair.right), 2):
            cell = sheet.cell(row, column)
            cell.value, cell.alignment = sheet_text(text), WRAPPED
            cell.data_type = "s"  # an answer that begins like a formula stays a text
    for letter, choices in (("E", "A,B,same"), ("F", "A,B,both")):
        chosen = DataValidation(type="list", formula1=f'"{choices}"', allow_blank=True)
        chosen.add(f"{letter}2:{letter}{len(pairs) + 1}")
        sheet.add_data_validation(chosen)
    sheet.freeze_panes = "B2"
    save(workbook, file)


def read_sheet(file: Path, test: str) -> Iterator[tuple[int, Better, tuple[Side, ...], str]]:
    """The votes that were filled in: number, better, critical, why.

    Raises:
        InvalidRequest: naming file, row and column of what can't be read.
    """
    try:
        workbook = load_workbook(file, read_only=True)
    except Exception as exc:
        raise InvalidRequest(f"{file} is no XLSX file that can be read") from exc
    with closing(workbook):
        sheet = workbook.worksheets[0]
        if sheet.title != test[:31]:
            raise InvalidRequest(f"{file}: expected the sheet of test {test}, found {sheet.title}")
        rows = list(sheet.iter_rows(min_row=2, max_col=len(_COLUMNS), values_only=True))
    for row, cells in enumerate(rows, 2):
        number, _, _, _, better, critical, why = tuple(cells) + (None,) * (len(_COLUMNS) - len(cells))
        if better is None or not str(better).strip():
            continue
        where = f"{file}, row {row}"
        if not isinstance(number, int | float) or number != int(number):
            raise InvalidRequest(f"{where}: number: expected the number of a pair, not {number}")
        yield (
            int(number),
            _chosen(better, _BETTER, f"{where}: better", "A, B or same"),
            _chosen(critical or "", _CRITICAL, f"{where}: critical", "A, B, both or nothing"),
            str(why or ""),
        )


def _chosen(value: Any, known: dict[str, Any], where: str, expected: str) -> Any:
    found = known.get(str(value).strip().upper())
    if found is None:
        raise InvalidRequest(f"{where}: expected {expected}, not {value}")
    return found
