from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from encoders.testing import HashingEncoder
from storage.edge import EdgeIndex
from storage.sql import Database
from storage.vectors import IndexUnavailable


@pytest.fixture
def encoder() -> HashingEncoder:
    return HashingEncoder()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'store' / 'sekisho.db'}")
    yield opened
    await opened.close()


@pytest.fixture
async def index(tmp_path: Path, encoder: HashingEncoder) -> AsyncIterator[EdgeIndex]:
    opened = await EdgeIndex.open(tmp_path / "store" / "passages", identity=encoder.identity)
    yield opened
    with suppress(IndexUnavailable):  # a test may have closed it already
        await opened.close()
