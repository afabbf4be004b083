"""Tickets, verdicts and outcomes as rows for a person or another program, a page in memory at a time."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Table, select

from cache.transfer.tables import format_of, inert
from cache.transfer.workbooks import begun_sheet, text_cell
from gateway.errors import InvalidRequest
from gateway.review.closing.sheets import FILLED_IN
from storage.replacing import replacing
from storage.schema import audits, feedback, gate_examples, outcomes, tickets
from storage.sql import Database

__all__ = ["Exported", "Period", "lines", "sheet_cell", "sheet_text", "write_export"]

Exported = Literal["tickets", "audits", "feedback", "gate-examples", "outcomes"]

AT_ONCE = 500  # rows
MOST_IN_A_SHEET = 1_048_575  # rows below the header, in XLSX
LONGEST_CELL = 32_767  # characters, in XLSX

_TABLES: Mapping[Exported, tuple[Table, str]] = {
    "tickets": (tickets, "created_at"),
    "audits": (audits, "at"),
    "feedback": (feedback, "at"),
    "gate-examples": (gate_examples, "at"),
    "outcomes": (outcomes, "at"),
}
_OURS = {"exact_key", "asker_key", "decision"}  # hashes and counters that say nothing outside
_LARGE = {"turns", "steps"}  # of tickets: in JSON Lines only
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Period:
    """From the first of these days to the last, in UTC; without one, it is open there."""

    since: date | None = None
    until: date | None = None


async def _rows_of(
    db: Database, what: Exported, tenant: str, period: Period
) -> AsyncIterator[dict[str, Any]]:
    """A tenant's rows in the order of their ids, as JSON values."""
    table, at = _TABLES[what]
    columns = [column for column in table.columns if column.name not in _OURS]
    # Not by an index of the tenant: SQLite would sort all of the tenant's rows again for every page.
    own = table.c.tenant.concat("") == tenant
    query = select(*columns).where(own).order_by(table.c.id).limit(AT_ONCE)
    if period.since is not None:
        query = query.where(table.c[at] >= datetime.combine(period.since, time.min, UTC))
    if period.until is not None:
        query = query.where(table.c[at] <= datetime.combine(period.until, time.max, UTC))
    page = query
    while True:
        async with db.connect() as connection:
            rows = (await connection.execute(page)).mappings().all()
        for row in rows:
            yield {name: _plain(value) for name, value in row.items()}
        if len(rows) < AT_ONCE:
            return
        page = query.where(table.c.id > rows[-1]["id"])


async def lines(
    db: Database, what: Exported, tenant: str, period: Period, form: Literal["csv", "jsonl"]
) -> AsyncIterator[str]:
    """The same as text, row by row; CSV begins with a byte order mark, for spreadsheets.

    Raises:
        DatabaseUnavailable: before the first line, if it is down at the start.
    """
    rows = _rows_of(db, what, tenant, period)
    if form == "jsonl":
        async for one in rows:
            yield json.dumps(one, ensure_ascii=False) + "\n"
        return
    names = _columns(what)
    row = await anext(rows, None)  # before the header leaves
    yield "\ufeff" + _csv_line(names)
    while row is not None:
        yield _csv_line([_inert(row.get(name)) for name in names])
        row = await anext(rows, None)


async def write_export(
    db: Database,
    what: Exported,
    tenant: str,
    path: Path,
    period: Period,
    *,
    progress: Callable[[int], object] = lambda rows: None,
) -> int:
    """Write a file of the form that its name says, in the place of an older one; returns the rows.

    Raises:
        UnreadableTable: if the name says no form; InvalidRequest if a sheet can't hold the rows.
    """
    form = format_of(path)
    written = 0
    with replacing(path) as partial:
        if form == "xlsx":
            return await _write_xlsx(db, what, tenant, partial, period, progress)
        with partial.open("w", encoding="utf-8", newline="") as file:
            async for line in lines(db, what, tenant, period, form):
                file.write(line)
                written += 1
                progress(1)
    return written - (form == "csv")  # its header is a line, too


async def _write_xlsx(
    db: Database,
    what: Exported,
    tenant: str,
    path: Path,
    period: Period,
    progress: Callable[[int], object],
) -> int:
    from openpyxl import Workbook  # here: it costs a start 0.1 s, and a gateway seldom needs it

    workbook = Workbook(write_only=True)
    names, written = _columns(what), 0
    sheet = begun_sheet(workbook, what, names)
    async for row in _rows_of(db, what, tenant, period):
        if written == MOST_IN_A_SHEET:
            raise InvalidRequest(f"an XLSX sheet holds {MOST_IN_A_SHEET} rows: use .csv, or fewer days")
        sheet.append([sheet_cell(sheet, row.get(name)) for name in names])
        written += 1
        progress(1)
    workbook.save(path)
    return written


def _columns(what: Exported) -> list[str]:
    """The columns of a sheet, those of tickets with what people fill in."""
    names = [name for name in _TABLES[what][0].columns.keys() if name not in _OURS | _LARGE]  # noqa: SIM118
    return [*names, *FILLED_IN] if what == "tickets" else names


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _csv_line(cells: Sequence[Any]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def _inert(value: Any) -> Any:
    """A cell that a spreadsheet takes for no formula, whatever an asker wrote."""
    value = _flat(value)
    return inert(value) if isinstance(value, str) else value


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def sheet_cell(sheet: Any, value: Any) -> Any:
    """A cell of XLSX; a text stays a text, even where it begins like a formula."""
    value = _flat(value)
    if not isinstance(value, str):
        return value
    return text_cell(sheet, sheet_text(value))


def sheet_text(text: str) -> str:
    """A text as a cell of XLSX can hold it."""
    return _UNPRINTABLE.sub("\ufffd", text)[:LONGEST_CELL]
