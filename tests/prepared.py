"""New databases of SQLite with their schema there already: it is made once, for Alembic takes 0.1 s."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiosqlite
from sqlalchemy import create_engine

from storage import migrations, sqlite

__all__ = ["PreparedDatabases", "connect_to_nothing"]

HASTE = "PRAGMA synchronous=OFF"  # nothing here outlives the session, so nothing needs to reach the disk
connect_to_nothing = sqlite.connect


class PreparedDatabases:
    """Every new file is a copy of one empty database."""

    def __init__(self, file: Path) -> None:
        self._empty = file

    async def connect(self, database: str, *, pragmas: Sequence[str], **options: Any) -> aiosqlite.Connection:
        """As `storage.sqlite.connect`, but for the schema."""
        with suppress(OSError):  # it is there, or the real one tells what is wrong
            self._copy_to(Path(database))
        return await connect_to_nothing(database, pragmas=(*pragmas, HASTE), **options)

    def _copy_to(self, file: Path) -> None:
        """At once: another may open it at the same time."""
        if file.exists():
            return
        if not self._empty.exists():
            _make(self._empty)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            copy = shutil.copyfile(self._empty, Path(folder) / "copy")
            os.link(copy, file)


def _make(file: Path) -> None:
    engine = create_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    with engine.begin() as connection:
        migrations.upgrade(connection)
    engine.dispose()
