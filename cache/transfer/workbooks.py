"""Sheets of XLSX workbooks, a row at a time: read as their people see them, and written to be read."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from cache.errors import UnreadableTable
from cache.transfer.formats import UnknownLook, Value, shown
from cache.transfer.heads import AMONG, Heads

__all__ = ["NotShown", "begun_sheet", "read_sheet", "text_cell", "write_sheet"]

Cells = tuple[int, Sequence[Any]]

_MOST_COLUMNS = 256  # of a workbook; an entry has at most 200 phrasings
_UNPACKED = 200_000_000, 20  # a workbook may unpack to so many bytes, or so many times its size
_NARROW, _WIDE = 16, 50  # of columns, in letters
# Formats that a file names by a number only (ECMA-376, Part 1, 18.8.30):
_ALIKE = {31: 'yyyy"年"m"月"d"日"'}  # in Japan, China and Taiwan; openpyxl knows none from 27 on
_BY_COMPUTER = {5, 6, 7, 8, 14, 15, 16, 17, 22, 42, 44}  # the sign of a currency, the order of a day
_NEGATIVE_BY_COMPUTER = {37, 38, 39, 40, 41, 43}  # -5 or (5)
_LONG = ("question", "answer", "phrasing", "text", "comment", "contexts", "sources")


@dataclass(frozen=True, slots=True)
class NotShown:
    """A number, a day or a time that its format shows in a way that can't be told."""

    cell: str  # B2
    value: Value
    format: str

    def __str__(self) -> str:
        return str(self.value)

    @property
    def expected(self) -> str:
        """What would do instead."""
        found = f"found {self.value} in cell {self.cell}, whose format “{self.format}” can't be read"
        return f"expected a text, {found}: type what it shows, as text"


def read_sheet(path: Path, heads: Heads) -> Generator[Cells]:
    """Cells of the sheet that has the required columns; where none are required, of the first one.

    A cell is the text that it shows, None, or NotShown. One of a shared column that is merged downward
    holds its value for all of its rows.

    Raises:
        UnreadableTable: if there is no such sheet, or what a formula in a column that is read gives was
            never worked out.
    """
    # Here and below: it costs a start 0.1 s, and a gateway seldom needs it.
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        _refuse_bomb(path)
        with closing(load_workbook(path, read_only=True, data_only=True)) as workbook:
            sheet, place, names = _chosen(path, workbook.worksheets, heads)
            head, columns = place + 1, {n for n, name in enumerate(names) if heads.read(name)}
            _refuse_open_formulas(path, sheet, columns, below=head)
            days = {n for n, name in enumerate(names) if name in heads.days}
            with closing(_rows_of(sheet, days)) as found:
                yield from _filled(_numbered(found), _merged(sheet, names, heads.shared, below=head))
    except (
        InvalidFileException,
        zipfile.BadZipFile,
        LookupError,
        ValueError,
        OSError,
        SyntaxError,
    ) as broken:
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


def _rows_of(sheet: Any, days: Collection[int] = ()) -> Generator[list[str | NotShown | None]]:
    blank: Any = None  # the last row without a value: rows that are not in the file are one and the same
    for row in sheet.iter_rows(max_col=_MOST_COLUMNS):
        if row is blank or all(cell.value is None for cell in row):
            blank = row
            yield []
            continue
        yield [
            None if cell.value is None else _read(cell, is_day=place in days)
            for place, cell in enumerate(row)
        ]


def _read(cell: Any, *, is_day: bool) -> str | NotShown:
    """A cell as a person reads it."""
    match cell.value:
        case str(text):
            return text.replace("_x000D_", "\r")
        case bool(either):
            return str(either).lower()
        case value:
            return _shown(cell, value, is_day=is_day)


def _shown(cell: Any, value: Value, *, is_day: bool) -> str | NotShown:
    from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE
    from openpyxl.utils.datetime import from_excel

    number, code = cell.style_array.numFmtId, cell.number_format
    negative = isinstance(value, int | float) and value < 0
    try:
        if number in _ALIKE and isinstance(value, int | float):
            code, value = _ALIKE[number], from_excel(value, cell.parent.parent.epoch)
        elif number not in BUILTIN_FORMATS and number < BUILTIN_FORMATS_MAX_SIZE:
            code = f"number {number}"
            raise UnknownLook(code)
        if is_day and isinstance(value, date):
            return value.isoformat().removesuffix("T00:00:00")
        if number in _BY_COMPUTER or (negative and number in _NEGATIVE_BY_COMPUTER):
            raise UnknownLook(code)
        return shown(value, code)
    except (UnknownLook, OverflowError):  # a day beyond the year 9999
        return NotShown(cell.coordinate, value, code)


Merged = Mapping[int, Sequence[tuple[int, int]]]  # by first line: column and last line


def _merged(sheet: Any, names: Sequence[str], shared: Collection[str], *, below: int) -> Merged:
    """The cells of shared columns that are merged downward below the headings."""
    from openpyxl.worksheet.cell_range import CellRange

    columns = {place for place, name in enumerate(names) if name in shared}
    found: dict[int, list[tuple[int, int]]] = {}
    for element in _elements(sheet, "mergeCell") if columns else ():
        column, first, _, last = CellRange(element.get("ref")).bounds
        if column - 1 in columns and below < first < last:
            found.setdefault(first, []).append((column - 1, last))
    return found


def _elements(sheet: Any, name: str) -> Iterator[Any]:
    """Rows, or what a file names behind its rows, which a reader of cells never sees."""
    from openpyxl.xml.constants import SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    row, wanted = f"{{{SHEET_MAIN_NS}}}row", f"{{{SHEET_MAIN_NS}}}{name}"
    with sheet._get_source() as source:
        for _, element in iterparse(source):
            if element.tag == wanted:
                yield element
            if element.tag in (row, wanted):
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


def _refuse_open_formulas(path: Path, sheet: Any, columns: Set[int], *, below: int) -> None:
    """Refuse a workbook with a formula in these columns that lacks its value: its cell reads as empty."""
    line = 0
    for row in _elements(sheet, "row"):
        line = int(row.get("r") or line + 1)
        if line > below and columns & _open_formulas(row):
            raise UnreadableTable(
                f"{path.name}, line {line}: its formulas were never worked out: "
                "open it in a spreadsheet program, and save it once",
                why="formulas",
            )


def _open_formulas(row: Any) -> set[int]:
    """In which columns a formula lacks its value; one that gives an empty text has that."""
    from openpyxl.utils.cell import coordinate_to_tuple
    from openpyxl.xml.constants import SHEET_MAIN_NS

    found, column = set(), 0
    for cell in row:
        column = coordinate_to_tuple(cell.get("r"))[1] if cell.get("r") else column + 1
        formula, value = (cell.find(f"{{{SHEET_MAIN_NS}}}{name}") for name in "fv")
        if formula is not None and (value is None or not value.text) and cell.get("t", "n") == "n":
            found.add(column - 1)
    return found


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
