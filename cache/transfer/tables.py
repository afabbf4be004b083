"""Files as rows: CSV, JSON Lines and XLSX, read and written a row at a time."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import chain, islice, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from cache.errors import MissingColumns, UnreadableTable
from cache.transfer.heads import AMONG, Heads, as_text
from cache.transfer.workbooks import NotShown, read_sheet, write_sheet

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
_UTF8 = "utf-8-sig"
_ENCODINGS = (_UTF8, "gb18030", "cp932", "cp950")  # the others: of sheets in China, Japan and Taiwan
_NO_TEXT = re.compile("[\uf8f0-\uf8ff]")  # CP932 reads bytes that mean nothing as these
_DELIMITERS = ",;\t"
_LONGEST_CELL = 1_000_000
_FORMULA = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")  # those of East Asian keyboards, too
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file and the line where it begins."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A line that is no row, or has a cell that can't be read."""

    line: int
    expected: str
    field: str = "row"
    why: str = ""  # format, where a cell is a number whose look can't be told


_Line = tuple[int, Sequence[Any] | RowProblem]  # where it begins, and its cells


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
    path: Path,
    *,
    required: Sequence[str],
    headings: Mapping[str, str] = _NONE,
    shared: Collection[str] = (),
    days: Collection[str] = (),
    beside: Collection[str] = (),
    read: Callable[[str], bool] = bool,
) -> Iterator[Row | RowProblem]:
    """The rows of a file below its headings, a few at a time in memory.

    Args:
        headings: other names of columns.
        shared: columns in which merged cells of a workbook hold their value for all of their rows.
        days: columns in which days of a workbook are read as 2026-04-01, however it shows them.
        beside: columns that may stand twice; of two cells, only one says something.
        read: whether it matters what a column holds; what can't be read in others is passed over.

    Raises:
        UnreadableTable: if the file is empty or of another form; MissingColumns if it lacks a required one.
    """
    form = format_of(path)
    if path.stat().st_size == 0:
        raise UnreadableTable(f"{path.name}: the file is empty")
    if form == "jsonl":
        return _read_jsonl(path)
    heads = Heads(required, headings, shared, days, beside, read)
    cells = _read_csv(path, heads) if form == "csv" else read_sheet(path, heads)
    return _by_columns(path, cells, heads)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a file of the form that its name says; returns how many."""
    form = format_of(path)
    if form == "jsonl":
        return _write_jsonl(path, rows)
    cells = ([row.get(column, "") for column in columns] for row in rows)
    return _write_csv(path, columns, cells) if form == "csv" else write_sheet(path, columns, cells)


def inert(text: str) -> str:
    """A cell of CSV that a spreadsheet takes for no formula, whoever wrote it."""
    return f"'{text}" if _FORMULA.match(text) else text


def as_written(cell: str) -> str:
    """The text of a cell of our CSV: what was put before a formula is taken off again."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _by_columns(path: Path, cells: Generator[_Line], heads: Heads) -> Iterator[Row | RowProblem]:
    """Rows of cells as mappings; what refuses the file leaves it closed."""
    with closing(cells) as rows:
        yield from _named(path, rows, heads)


def _named(path: Path, rows: Iterator[_Line], heads: Heads) -> Iterator[Row | RowProblem]:
    """Each row by the names in the row of headings; what stands above it is a title."""
    first = list(islice(rows, AMONG))
    place, names = heads.find(() if isinstance(cells, RowProblem) else cells for _, cells in first)
    once = [name for name in names if name and name not in heads.beside]
    if twice := sorted({name for name in once if once.count(name) > 1}):
        raise UnreadableTable(f"{path.name}: more than one column for {', '.join(twice)}")
    missing = [name for name in heads.required if name not in names]
    if missing:
        raise MissingColumns(path.name, missing, found=[*filter(None, names)])
    for line, cells in chain(first[place + 1 :], rows):
        if isinstance(cells, RowProblem):
            yield cells
        elif len(cells) > len(names) and any(as_text(cell).strip() for cell in cells[len(names) :]):
            yield RowProblem(line, f"expected {len(names)} cells, found {len(cells)}")
        elif any(as_text(cell).strip() for cell in cells):
            yield _row(line, [*zip(names, cells, strict=False)], heads)


def _row(line: int, cells: Sequence[tuple[str, Any]], heads: Heads) -> Row | RowProblem:
    for name, cell in cells:
        if isinstance(cell, NotShown) and heads.read(name):
            return RowProblem(line, cell.expected, name, "format")
    values: dict[str, str] = {}
    for name, text in ((name, as_text(cell)) for name, cell in cells if name):
        said = values.get(name, "").strip()
        if said and text.strip() not in ("", said):
            return RowProblem(line, "expected one text, found two in columns of this name", name)
        values[name] = values[name] if said else text
    return Row(line, values)


def _read_csv(path: Path, heads: Heads) -> Generator[_Line]:
    """Cells of a CSV file; bytes that are no text stay as lone surrogates, for the row to be refused."""
    csv.field_size_limit(_LONGEST_CELL)
    encoding, delimiter = _written_in(path, heads)
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                yield line, [as_written(cell) for cell in cells]
                line = reader.line_num + 1
        except csv.Error as broken:
            if line == reader.line_num and next(file, None) is None:  # it took no other row along
                yield line, RowProblem(line, f"expected quotation marks in pairs: {broken}")
                return
            raise UnreadableTable(f"{path.name}, line {line}: {broken}") from broken


def _written_in(path: Path, heads: Heads) -> tuple[str, str]:
    """The encoding and the delimiter with which the file has its headings; else UTF-8 if it begins so.

    Headings tell, for most bytes are some text in every encoding of East Asia; so those that are ASCII
    tell nothing of the rows below them.
    """
    with path.open("rb") as file:
        lines = [file.readline(_LONGEST_CELL) for _ in range(AMONG)]
        further = iter(partial(file.readline, _LONGEST_CELL), b"")
        telling = next((line for line in chain(lines, further) if not line.isascii()), b"")
    if lines[0].startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _no_utf8(path, ", found UTF-16", why="encoding")
    ways = product(_ENCODINGS, _DELIMITERS) if heads.required else ()
    headed = next((way for way in ways if _is_headed(b"".join(lines), *way, heads)), None)
    if headed and headed[0] != _UTF8:
        return headed
    other = not _is_text(telling, _UTF8) and any(_is_text(telling, one) for one in _ENCODINGS)
    if other or not _is_text(lines[0], _UTF8):  # bytes that are no text at all refuse their own row
        raise _no_utf8(path, why="encoding" if headed else "")
    return headed or (_UTF8, max(_DELIMITERS, key=lines[0].decode(_UTF8).count))


def _is_text(line: bytes, encoding: str) -> bool:
    with suppress(UnicodeDecodeError):
        return _NO_TEXT.search(line.decode(encoding)) is None
    return False


def _no_utf8(path: Path, found: str = "", *, why: str) -> UnreadableTable:
    return UnreadableTable(f"{path.name}: expected UTF-8 text{found}: save it as “CSV UTF-8”", why=why)


def _is_headed(lines: bytes, encoding: str, delimiter: str, heads: Heads) -> bool:
    """Whether the first rows of a file have whole headings, read so."""
    text = lines.decode(encoding, "replace")
    try:
        _, names = heads.find(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return False
    return heads.complete(names) and "\ufffd" not in "".join(names)


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
