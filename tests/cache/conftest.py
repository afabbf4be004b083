"""A store on both databases, an index in a file, and the shelf over them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cache.shelf import Shelf
from cache.store import EntryStore
from storage.edge import EdgeIndex
from storage.sql import Database
from storage.vectors import VectorIndex
from tests.cache.shelves import WEIGHTS, WordEncoder


@pytest.fixture
def store(database: Database) -> EntryStore:
    return EntryStore(database)


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


@pytest.fixture
async def index(tmp_path: Path, encoder: WordEncoder) -> AsyncIterator[VectorIndex]:
    opened = await EdgeIndex.open(tmp_path / "index", identity=encoder.identity)
    yield opened
    await opened.close()


@pytest.fixture
def shelf(store: EntryStore, index: VectorIndex, encoder: WordEncoder) -> Shelf:
    return Shelf(store, index, encoder, weights=WEIGHTS)
