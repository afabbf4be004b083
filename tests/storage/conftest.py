"""Databases here begin with nothing, and reach the disk."""

from __future__ import annotations

import pytest

from storage import sqlite
from tests.postgres import NOTHING, PostgresServer
from tests.prepared import connect_to_nothing


@pytest.fixture(autouse=True)
def _schemas_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(server: PostgresServer) -> str:
        return NOTHING

    monkeypatch.setattr(sqlite, "connect", connect_to_nothing)
    monkeypatch.setattr(PostgresServer, "template", nothing)
