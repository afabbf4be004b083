"""Fixtures that every part shares: real stores, made new for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from storage.sql import Database
from tests.postgres import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, started by the first test that asks for it."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["SQLite", "PostgreSQL"])
async def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The address of an empty database, once of each kind."""
    if request.param == "SQLite":
        yield f"sqlite:///{tmp_path / 'store' / 'sekisho.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = await server.create_database()
    yield server.url(name)
    await server.drop_database(name)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An open database with the present schema, once of each kind."""
    opened = await Database.open(database_url)
    yield opened
    await opened.close()
