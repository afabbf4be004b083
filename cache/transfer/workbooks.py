"""Sheets of XLSX workbooks, a row at a time: read as their people see them, and written to be read."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cache.errors import UnreadableTable
from cache.transfer.heads import AMONG, Heads

__all__ = ["begun_sheet", "read_sheet", "text_cell", "write_sheet"]

Cells = tuple[int, Sequence[Any]]

_MOST_COLUMNS = 256  # of a workbook; an entry has at most 200 phrasings
_UNPACKED = 200_000_000, 20  # a workbook may unpack to so many bytes, or so many times its size
_NARROW, _WIDE = 16, 50  # of columns, in letters
_LONG = ("question", "answer", "phrasing", "text", "comment", "contexts", "sources")


def read_sheet(path: Path, heads: Heads, shared: Collection[str]) -> Generator[Cells]:
    """Cells of the sheet that has the required columns; where none are required, of the first one.

    A cell of a `shared` column that is merged downward holds its value for all of its rows.

    Raises:
        UnreadableTable: if there is no such sheet, or what its formulas give was never worked out.
    """
    # Here and below: it costs a start 0.1 s, and a gateway seldom needs it.
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        _refuse_bomb(path)
        with closing(load_workbook(path, read_only=True, data_only=True)) as workbook:
            sheet, place, names = _chosen(path, workbook.worksheets, heads)
            head, required = place + 1, [names.index(one) for one in heads.required if one in names]
            with closing(_rows_of(sheet)) as found:
                rows = _filled(_numbered(found), _merged(sheet, names, shared, below=head))
                yield from _worked_out(rows, path, sheet, required, below=head)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as broken:
        # of both XML parsers' errors SyntaxError is the base
        raise UnreadableTable(f"{path.name}: expected an XLSX workbook: {broken}") from broken


def _refuse_bomb(path: Path) -> None:
    """Refuse a small file that unpacks to one that fills the memory."""
    with zipfile.ZipFile(path) as packed:
        unpacked = sum(part.file_size for part in packed.infolist())
    least, times = _UNPACKED
    if unpacked > max(least, times * path.stat().st_size):
        raise UnreadableTable(f"{path.name}: unpacks to {unpacked:,} bytes, which no sheet of entries does")


def _chosen(path: Path, sheets: Sequence[Any], heads: Heads) -> tuple[Any, int, list[str]]:
    """The sheet with the required columns, or the only one; place and names of its headings."""
    if not sheets:
        raise UnreadableTable(f"{path.name}: the workbook has no sheet")
    for sheet in sheets:
        sheet.reset_dimensions()  # else there are as many cells as the file only says
    found = [(one, *heads.find(_rows_of(one))) for one in sheets]
    headed = [one for one in found if heads.complete(one[2])]
    required = ", ".join(heads.required)
    if required and len(headed) > 1:
        named = ", ".join(f"“{sheet.title}”" for sheet, _, _ in headed)
        raise UnreadableTable(f"{path.name}: expected one sheet with {required}, found {named}")
    if not headed and len(found) > 1:
        said = "; ".join(
            f"“{sheet.title}”: {', '.join(filter(None, names)) or 'none'}" for sheet, _, names in found
        )
        raise UnreadableTable(f"{path.name}: no sheet has {required} in its first {AMONG} rows ({said})")
    return (headed or found)[0]


def _numbered(rows: Iterable[list[Any]]) -> Iterator[Cells]:
    """The rows that hold something, and the first ones, with their lines."""
    return ((line, cells) for line, cells in enumerate(rows, start=1) if line <= AMONG or any(cells))


def _rows_of(sheet: Any) -> Generator[list[Any]]:
    for row in sheet.iter_rows(max_col=_MOST_COLUMNS, values_only=True):
        yield [cell.replace("_x000D_", "\r") if isinstance(cell, str) else cell for cell in row]


Merged = Mapping[int, Sequence[tuple[int, int]]]  # by first line: column and last line


def _merged(sheet: Any, names: Sequence[str], shared: Collection[str], *, below: int) -> Merged:
    """The cells of shared columns that are merged downward below the headings."""
    columns = {place for place, name in enumerate(names) if name in shared}
    found: dict[int, list[tuple[int, int]]] = {}
    for column, first, _, last in _merged_cells(sheet) if columns else ():
        if column - 1 in columns and below < first < last:
            found.setdefault(first, []).append((column - 1, last))
    return found


def _merged_cells(sheet: Any) -> Iterator[tuple[int, int, int, int]]:
    """The bounds of merged cells, which a file names behind its rows, and a reader of rows never sees."""
    from openpyxl.worksheet.cell_range import CellRange
    from openpyxl.xml.constants import SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    with sheet._get_source() as source:
        for _, element in iterparse(source):
            if element.tag == f"{{{SHEET_MAIN_NS}}}mergeCell":
                yield CellRange(element.get("ref")).bounds
            element.clear()


def _filled(rows: Iterator[Cells], merged: Merged) -> Iterator[Cells]:
    """The rows; a value that stands in the first line of merged cells stands in the others, too."""
    under: dict[int, tuple[int, Any]] = {}  # by column: down to which line which value
    for line, cells in rows:
        here = list(cells)
        if any(here):
            under = {column: until for column, until in under.items() if line <= until[0]}
            for column, (_, value) in under.items():
                here[column] = here[column] or value
            under |= {column: (last, here[column]) for column, last in merged.get(line, ())}
        yield line, here


def _worked_out(
    rows: Iterator[Cells], path: Path, sheet: Any, required: Sequence[int], *, below: int
) -> Iterator[Cells]:
    """The rows, if none lacks what a formula would give; looked at where the first one lacks something."""
    looked = False
    for line, cells in rows:
        lacks = line > below and any(cells) and any(cells[place] is None for place in required)
        if lacks and not looked:
            looked = True
            if _has_open_formulas(path, sheet, line, required):
                raise UnreadableTable(
                    f"{path.name}: its formulas were never worked out: "
                    "open it in a spreadsheet program, and save it once",
                    why="formulas",
                )
        yield line, cells


def _has_open_formulas(path: Path, sheet: Any, first: int, columns: Sequence[int]) -> bool:
    """Whether a formula in these columns lacks its value; one that gives an empty text has that."""
    from openpyxl import load_workbook

    with closing(load_workbook(path, read_only=True)) as workbook:
        written = workbook[sheet.title]
        written.reset_dimensions()
        sides = [one.iter_rows(min_row=first, max_col=_MOST_COLUMNS) for one in (written, sheet)]
        with closing(sides[0]), closing(sides[1]):
            return any(
                formula[place].data_type == "f"
                and value[place].value is None
                and value[place].data_type == "n"
                for formula, value in zip(*sides, strict=False)
                for place in columns
            )


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Write a workbook of one sheet of texts; returns how many rows."""
    from openpyxl import Workbook

    workbook = Workbook(write_only=True)
    sheet = begun_sheet(workbook, "entries", columns)
    written = 0
    for cells in rows:
        sheet.append([text_cell(sheet, cell) for cell in cells])
        written += 1
    workbook.save(path)
    return written


def begun_sheet(workbook: Any, title: str, columns: Sequence[str]) -> Any:
    """A sheet with its headings, which stay in sight, and room for texts where there are long ones."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    sheet = workbook.create_sheet(title)
    sheet.freeze_panes = "A2"
    for place, name in enumerate(columns, 1):
        wide = any(word in name for word in _LONG)
        sheet.column_dimensions[get_column_letter(place)].width = _WIDE if wide else _NARROW
    head = [text_cell(sheet, name) for name in columns]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)
    return sheet


def text_cell(sheet: Any, text: str) -> Any:
    """A cell that stays text, even where it begins like a formula, and shows all of its lines."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment

    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    return cell
