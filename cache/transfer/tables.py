"""Files as rows: CSV, JSON Lines and XLSX, read and written a row at a time."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from cache.errors import UnreadableTable

__all__ = [
    "Row",
    "RowProblem",
    "TableFormat",
    "as_written",
    "format_of",
    "inert",
    "read_table",
    "write_table",
]

TableFormat = Literal["csv", "jsonl", "xlsx"]
_SUFFIXES: dict[str, TableFormat] = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx"}
_ENCODINGS = ("gb18030", "cp932", "cp950")  # of spreadsheets in China, Japan and Taiwan
_LONGEST_CELL = 1_000_000
_MOST_COLUMNS = 256  # of a workbook; an entry has at most 200 phrasings
_UNPACKED = 200_000_000, 20  # a workbook may unpack to so many bytes, or so many times its size
_FORMULA = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")  # those of East Asian keyboards, too
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file and the line where it begins."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A line that is no row."""

    line: int
    expected: str


def format_of(path: Path) -> TableFormat:
    """The form of a file by its name.

    Raises:
        UnreadableTable: if the name ends in none of .csv, .jsonl, .xlsx.
    """
    form = _SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise UnreadableTable(f"{path.name}: expected a file that ends in .csv, .jsonl or .xlsx")
    return form


def read_table(
    path: Path, *, required: Sequence[str], headings: Mapping[str, str] = _NONE
) -> Iterator[Row | RowProblem]:
    """The rows of a file, a few at a time in memory; `headings` are other names of columns.

    Raises:
        UnreadableTable: if the file is empty, of another form, or lacks a required column.
    """
    form = format_of(path)
    if path.stat().st_size == 0:
        raise UnreadableTable(f"{path.name}: the file is empty")
    if form == "jsonl":
        return _read_jsonl(path)
    cells = _read_csv(path, required, headings) if form == "csv" else _read_xlsx(path, required, headings)
    return _by_columns(path, cells, required, headings)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a file of the form that its name says; returns how many."""
    form = format_of(path)
    if form == "jsonl":
        return _write_jsonl(path, rows)
    cells = ([row.get(column, "") for column in columns] for row in rows)
    return _write_csv(path, columns, cells) if form == "csv" else _write_xlsx(path, columns, cells)


def inert(text: str) -> str:
    """A cell of CSV that a spreadsheet takes for no formula, whoever wrote it."""
    return f"'{text}" if _FORMULA.match(text) else text


def as_written(cell: str) -> str:
    """The text of a cell of our CSV: what was put before a formula is taken off again."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _by_columns(
    path: Path,
    rows: Iterator[tuple[int, Sequence[Any]]],
    required: Sequence[str],
    headings: Mapping[str, str],
) -> Iterator[Row | RowProblem]:
    """Rows of cells as mappings, by the names in the first row."""
    names = _names(next(rows, (1, ()))[1], headings)
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise UnreadableTable(f"{path.name}: more than one column for {', '.join(twice)}")
    missing = [name for name in required if name not in names]
    if missing:
        found = ", ".join(filter(None, names)) or "none"
        raise UnreadableTable(f"{path.name}: missing columns: {', '.join(missing)} (found: {found})")
    for line, cells in rows:
        if len(cells) > len(names) and any(_as_text(cell).strip() for cell in cells[len(names) :]):
            yield RowProblem(line, f"expected {len(names)} cells, found {len(cells)}")
        elif any(_as_text(cell).strip() for cell in cells):
            yield Row(line, {name: _as_text(cell) for name, cell in zip(names, cells, strict=False) if name})


def _names(header: Sequence[Any], headings: Mapping[str, str]) -> list[str]:
    """What the columns under these cells are called."""
    names = [unicodedata.normalize("NFKC", _as_text(cell)).strip().lower() for cell in header]
    return [headings.get(name, name) for name in names]


def _read_csv(
    path: Path, required: Sequence[str], headings: Mapping[str, str]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Cells of a CSV file; bytes that are no text stay as lone surrogates, for the row to be refused."""
    encoding = _encoding_of(path, required, headings)
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        delimiter = _delimiter(file.readline())
        file.seek(0)
        csv.field_size_limit(_LONGEST_CELL)
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                yield line, [as_written(cell) for cell in cells]
                line = reader.line_num + 1
        except csv.Error as broken:
            raise UnreadableTable(f"{path.name}, line {line}: {broken}") from broken


def _encoding_of(path: Path, required: Sequence[str], headings: Mapping[str, str]) -> str:
    """UTF-8 if the first line is that; else the one in which it has the required columns.

    Headings tell, for most bytes are some text in every encoding of East Asia.
    """
    with path.open("rb") as file:
        head = file.readline(_LONGEST_CELL)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableTable(f"{path.name}: expected UTF-8 text, found UTF-16: save it as “CSV UTF-8”")
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError:
        for encoding in _ENCODINGS:
            line = head.decode(encoding, "replace")
            names = _names(next(csv.reader([line], delimiter=_delimiter(line))), headings)
            if required and set(required) <= set(names):
                return encoding
    else:
        return "utf-8-sig"
    raise UnreadableTable(f"{path.name}: expected UTF-8 text: save it as “CSV UTF-8”")


def _delimiter(head: str) -> str:
    return max(",;\t", key=head.count)


def _read_jsonl(path: Path) -> Iterator[Row | RowProblem]:
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            text = raw.removeprefix(b"\xef\xbb\xbf").strip()
            if text:
                yield _json_row(line, text)


def _json_row(line: int, text: bytes) -> Row | RowProblem:
    try:
        values = json.loads(text)
    except UnicodeDecodeError as broken:
        return RowProblem(line, f"expected UTF-8 text: {broken.reason} at byte {broken.start}")
    except json.JSONDecodeError as broken:
        return RowProblem(line, f"expected a JSON object: {broken.msg} at character {broken.pos}")
    except RecursionError:
        return RowProblem(line, "expected a JSON object: it is nested too deeply")
    except ValueError as broken:  # an integer of thousands of digits
        return RowProblem(line, f"expected a JSON object: {broken}")
    if not isinstance(values, dict):
        return RowProblem(line, f"expected a JSON object, found a {type(values).__name__}")
    return Row(line, values)


def _read_xlsx(
    path: Path, required: Sequence[str], headings: Mapping[str, str]
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Cells of the sheet that has the required columns; where none are required, of the first one."""
    # Here and below: it costs a start 0.1 s, and a gateway seldom needs it.
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        _refuse_bomb(path)
        yield from _sheet_cells(path, required, headings)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as broken:
        # of both XML parsers' errors SyntaxError is the base
        raise UnreadableTable(f"{path.name}: expected an XLSX workbook: {broken}") from broken


def _sheet_cells(
    path: Path, required: Sequence[str], headings: Mapping[str, str]
) -> Iterator[tuple[int, Sequence[Any]]]:
    from openpyxl import load_workbook

    with closing(load_workbook(path, read_only=True, data_only=True)) as workbook:
        sheets = workbook.worksheets
        if not sheets:
            raise UnreadableTable(f"{path.name}: the workbook has no sheet")
        for sheet in sheets:
            sheet.reset_dimensions()  # else there are as many cells as the file only says
        headed = [one for one in sheets if set(required) <= set(_header(one, headings))]
        if required and len(headed) > 1:
            named = ", ".join(f"“{one.title}”" for one in headed)
            raise UnreadableTable(
                f"{path.name}: expected one sheet with {', '.join(required)}, found {named}"
            )
        if not headed and len(sheets) > 1:
            found = "; ".join(
                f"“{one.title}”: {', '.join(_header(one, headings)) or 'none'}" for one in sheets
            )
            raise UnreadableTable(
                f"{path.name}: no sheet has {', '.join(required)} in its first row ({found})"
            )
        rows = enumerate(_rows_of((headed or sheets)[0]), start=1)
        yield from ((line, cells) for line, cells in rows if line == 1 or any(cells))


def _rows_of(sheet: Any) -> Iterator[Sequence[Any]]:
    for row in sheet.iter_rows(max_col=_MOST_COLUMNS, values_only=True):
        yield [cell.replace("_x000D_", "\r") if isinstance(cell, str) else cell for cell in row]


def _refuse_bomb(path: Path) -> None:
    """Refuse a small file that unpacks to one that fills the memory."""
    with zipfile.ZipFile(path) as packed:
        unpacked = sum(part.file_size for part in packed.infolist())
    least, times = _UNPACKED
    if unpacked > max(least, times * path.stat().st_size):
        raise UnreadableTable(f"{path.name}: unpacks to {unpacked:,} bytes, which no sheet of entries does")


def _header(sheet: Any, headings: Mapping[str, str]) -> list[str]:
    """The names in the first row of a sheet."""
    return [name for name in _names(next(_rows_of(sheet), ()), headings) if name]


def _write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            written += 1
    return written


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """With a byte order mark, without which spreadsheets take Japanese for Latin-1."""
    written = 0
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for cells in rows:
            writer.writerow(map(inert, cells))
            written += 1
    return written


def _write_xlsx(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    from openpyxl import Workbook

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("entries")
    sheet.append(list(columns))
    written = 0
    for cells in rows:
        sheet.append([_text_cell(sheet, cell) for cell in cells])
        written += 1
    workbook.save(path)
    return written


def _text_cell(sheet: Any, text: str) -> Any:
    """A cell that stays text, even where it begins like a formula."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    return cell


def _as_text(cell: Any) -> str:
    """A cell as a person reads it."""
    match cell:
        case None:
            return ""
        case str():
            return cell
        case bool():
            return str(cell).lower()
        case float() if cell.is_integer():
            return str(int(cell))
        case datetime() if cell.time() == datetime.min.time():
            return cell.date().isoformat()
        case datetime() | date():
            return cell.isoformat()
        case _:
            return str(cell)
