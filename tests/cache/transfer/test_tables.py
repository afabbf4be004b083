"""Workbooks that were made to fill a reader's memory or time."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from cache.errors import UnreadableTable
from cache.transfer.tables import Row, read_table

COLUMNS = ("question", "answer")


def workbook(path: Path) -> Path:
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.append(COLUMNS)
    sheet.append(("How do I pay?", "By card."))
    sheet.cell(1_048_576, 16_384, "far")
    made.save(path)
    return path


def test_a_cell_in_the_last_corner_of_a_sheet_makes_no_sheet_full_of_cells(tmp_path: Path) -> None:
    rows = list(read_table(workbook(tmp_path / "far.xlsx"), required=COLUMNS))
    assert rows == [Row(2, {"question": "How do I pay?", "answer": "By card."})]


def test_a_workbook_that_unpacks_to_a_hundred_times_its_size_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "bomb.xlsx")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/sharedStrings.xml", b" " * 201_000_000)
    with pytest.raises(UnreadableTable, match="unpacks to 201,0"):
        list(read_table(path, required=COLUMNS))
