"""Exports hold a tenant's rows of some days, and nothing that a spreadsheet would run."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from sqlalchemy import insert

from cache.errors import UnreadableTable
from cache.transfer.tables import as_written
from gateway.exports import Exported, Period, lines, write_export
from gateway.review.tickets import Tickets
from storage.schema import outcomes
from storage.sql import Database
from tests.gateway.running import Gateway, settings
from tests.postgres import PostgresServer
from tests.review.asking import STEPS, question

FORMULAS = ("=HYPERLINK(0)", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "　＋1", "'=1")
START = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def recorded(database: Database, rows: int, **changed: Any) -> None:
    row = {
        "tenant": "acme", "request_id": "r", "question_hash": "h", "question": "What?", "language": "en",
        "outcome": "rag", "reason": "supported", "stage_ms": {"gate": 1.5}, "ms": -2.5,
    }  # fmt: skip
    for start in range(0, rows, 1_000):
        many = range(start, min(start + 1_000, rows))
        async with database.begin() as connection:
            days = [{"at": START + timedelta(days=number % 10)} for number in many]
            await connection.execute(insert(outcomes), [row | changed | day for day in days])


async def text_of(database: Database, what: Exported, form: Any, period: Period = Period()) -> str:  # noqa: B008
    return "".join([line async for line in lines(database, what, "acme", period, form)])


async def test_every_row_is_exported_once_and_no_other_tenants(database: Database) -> None:
    await recorded(database, 1_203)
    await recorded(database, 5, tenant="other")
    rows = [json.loads(line) for line in (await text_of(database, "outcomes", "jsonl")).splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) == 1_203
    assert {row["tenant"] for row in rows} == {"acme"}
    assert "asker_key" not in rows[0]


async def test_days_are_counted_with_the_first_and_the_last(database: Database) -> None:
    await recorded(database, 10)
    period = Period(START.date() + timedelta(days=2), START.date() + timedelta(days=4))
    assert len((await text_of(database, "outcomes", "jsonl", period)).splitlines()) == 3


@pytest.mark.parametrize("formula", FORMULAS)
async def test_no_cell_of_csv_begins_a_formula(database: Database, formula: str) -> None:
    await recorded(database, 1, question=formula)
    [row] = csv.DictReader(io.StringIO((await text_of(database, "outcomes", "csv")).removeprefix("\ufeff")))
    assert row["question"] == f"'{formula}"
    assert as_written(row["question"]) == formula
    assert (row["ms"], row["stage_ms"]) == ("-2.5", '{"gate": 1.5}')


async def test_xlsx_keeps_formulas_as_texts(database: Database, tmp_path: Path) -> None:
    await recorded(database, 1, question="=1+1\x01")
    assert await write_export(database, "outcomes", "acme", tmp_path / "o.xlsx", Period()) == 1
    sheet = load_workbook(tmp_path / "o.xlsx").worksheets[0]
    column = [cell.value for cell in sheet[1]].index("question")
    assert (sheet[2][column].value, sheet[2][column].data_type) == ("=1+1\ufffd", "s")


async def test_xlsx_is_laid_out_to_be_read(database: Database, tmp_path: Path) -> None:
    await recorded(database, 1, question="First this.\nThen that.")
    await write_export(database, "outcomes", "acme", tmp_path / "o.xlsx", Period())
    sheet = load_workbook(tmp_path / "o.xlsx").worksheets[0]
    column = {cell.value: cell.column_letter for cell in sheet[1]}
    assert (sheet.freeze_panes, sheet["A1"].font.bold) == ("A2", True)
    assert sheet[f"{column['question']}2"].alignment.wrap_text
    assert (
        sheet.column_dimensions[column["question"]].width > sheet.column_dimensions[column["ms"]].width > 10
    )


async def test_a_ticket_is_exported_whole_in_json_and_flat_in_csv(database: Database, tmp_path: Path) -> None:
    ticket = await Tickets(database).open(
        question(), outcome="withheld", reason="unsupported_statement", steps=STEPS
    )
    [row] = (await text_of(database, "tickets", "jsonl")).splitlines()
    assert (json.loads(row)["id"], len(json.loads(row)["steps"])) == (ticket, len(STEPS))
    assert await write_export(database, "tickets", "acme", tmp_path / "t.csv", Period()) == 1
    assert "steps" not in (tmp_path / "t.csv").read_text("utf-8").splitlines()[0]


async def test_an_older_file_stays_where_nothing_could_be_written(database: Database, tmp_path: Path) -> None:
    (tmp_path / "t.doc").write_text("older", "utf-8")
    with pytest.raises(UnreadableTable, match="expected a file that ends in"):
        await write_export(database, "tickets", "acme", tmp_path / "t.doc", Period())
    assert (tmp_path / "t.doc").read_text("utf-8") == "older"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_from_a_database_that_is_down_is_an_error_and_no_file(
    postgres: PostgresServer, tmp_path: Path, form: str
) -> None:
    name = asyncio.run(postgres.create_database())
    text = "gate: {enabled: false}\nstorage: {url: '${DATABASE}'}"

    def goes(up: bool) -> None:
        asyncio.run(postgres.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS {up}'))
        ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        asyncio.run(postgres.execute(ended))

    with Gateway(settings(tmp_path, text, DATABASE=postgres.url(name))) as running:
        with running.http("admin") as admin:
            there = admin.get(f"/v1/export/tickets?form={form}")
            goes(False)
            away = admin.get(f"/v1/export/tickets?form={form}")
        goes(True)
    asyncio.run(postgres.drop_database(name))
    assert (there.status_code, len(there.text.splitlines())) == (200, 1 if form == "csv" else 0)
    assert (away.status_code, away.json()["error"]["code"]) == (503, "store_unavailable")
    assert away.headers["retry-after"] == "5"
    assert "content-disposition" not in away.headers


async def test_memory_does_not_grow_with_the_rows(database: Database, tmp_path: Path) -> None:
    peaks = []
    for more in (2_000, 8_000):
        await recorded(database, more)
        tracemalloc.start()
        await write_export(database, "outcomes", "acme", tmp_path / "o.csv", Period())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
