"""How our workbooks look: rows as high as their texts, whichever program opens them, and pages across."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.worksheet.properties import PageSetupProperties
from rich.cells import cell_len

from gateway.errors import InvalidRequest
from gateway.exports import sheet_cell

__all__ = ["HEAD", "WRAPPED", "across", "head_cells", "row_height", "save", "value_cell"]

HEAD = Font(name="Calibri", bold=True)
WRAPPED = Alignment(wrap_text=True, vertical="top")
_LINE = 15.0  # points
_HIGHEST = 409.0  # points, of a row: Excel's limit


def row_height(texts: Iterable[tuple[str, int]]) -> float:
    """Points that the longest of some texts needs, each in a column of a width; East Asian letters take two.

    LibreOffice shows the first line alone where a file does not say how high a row is.
    """
    lines = (sum(max(1, ceil(cell_len(line) / width)) for line in text.split("\n")) for text, width in texts)
    return min(_LINE * max(lines, default=1), _HIGHEST)


def across(sheet: Any) -> None:
    """Print the sheet across the page, all columns on one, each page with the head."""
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.print_title_rows = "1:1"


def value_cell(sheet: Any, value: str | float | None, alignment: Alignment = WRAPPED) -> Any:
    """A cell of a sheet that is written a row at a time; a number stays one."""
    cell = sheet_cell(sheet, value) if isinstance(value, str) else WriteOnlyCell(sheet, value)
    cell.alignment = alignment
    return cell


def head_cells(sheet: Any, names: Iterable[str]) -> list[Any]:
    """The headings of such a sheet."""
    cells = [value_cell(sheet, name) for name in names]
    for cell in cells:
        cell.font = HEAD
    return cells


def save(workbook: Workbook, file: Path) -> None:
    """Write the workbook.

    Raises:
        InvalidRequest: if it can't be written.
    """
    try:
        workbook.save(file)
    except OSError as exc:
        raise InvalidRequest(f"{file} can't be written: {exc.strerror}") from exc
