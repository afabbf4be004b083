"""One way to insert a row or change the one that is there already, whatever the database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["insert_into"]


def insert_into(connection: AsyncConnection, table: Table) -> Any:
    """An insert of the connection's dialect, which has `on_conflict_do_update` and `…_do_nothing`.

    The inserts of the two dialects share no class that has them.
    """
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)
