"""The command of docs/operations.md that backs up SQLite, run while a gateway has the database open."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import insert

from storage.schema import settings
from storage.sql import Database

RUNBOOK = Path(__file__).parents[2] / "docs/operations.md"


def rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as database:
        found: int = database.execute("SELECT count(*) FROM settings WHERE name = 'kept'").fetchone()[0]
    return found


async def test_a_backup_by_the_runbook_holds_what_was_acknowledged(tmp_path: Path) -> None:
    [command] = re.findall(r"^\$ (umask .*python -c .*)$", RUNBOOK.read_text("utf-8"), re.MULTILINE)
    command = command.replace("python", f"'{sys.executable}'", 1)
    file = tmp_path / ".sekisho/sekisho.db"
    database = await Database.open(f"sqlite:///{file}")
    try:
        async with database.begin() as connection:
            await connection.execute(
                insert(settings).values(name="kept", value={}, updated_at=datetime.now(UTC))
            )
        backup = partial(subprocess.run, command, shell=True, cwd=tmp_path, check=True)
        await asyncio.to_thread(backup)
    finally:
        await database.close()
    assert rows(tmp_path / "backup.db") == 1
    assert (tmp_path / "backup.db").stat().st_mode & 0o077 == 0, "others can read it"
