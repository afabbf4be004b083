"""How our workbooks look: rows as high as their texts, whichever program opens them, and pages across."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Any

from openpyxl.styles import Font
from openpyxl.worksheet.properties import PageSetupProperties
from rich.cells import cell_len

__all__ = ["HEAD", "across", "row_height"]

HEAD = Font(name="Calibri", bold=True)
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
