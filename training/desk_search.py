"""The search in the documents of a helpdesk, as a gateway does it."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from encoders import Encoder
from gateway.documents.ingestion import Documents
from gateway.documents.passages import PassageSearch
from gateway.review.entries.rereview import follow_renamed, outdate_and_ask
from storage.edge import EdgeIndex
from storage.sql import Database
from training.desk_questions import Desk

__all__ = ["searched"]


@asynccontextmanager
async def searched(desk: Desk, encoder: Encoder) -> AsyncIterator[PassageSearch]:
    """All documents of the helpdesk, read and indexed."""
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(f"sqlite:///{folder}/sekisho.db")
        index = await EdgeIndex.open(Path(folder) / "passages", identity=encoder.identity)
        try:
            await Documents(
                database, index, encoder, on_changed=outdate_and_ask, on_renamed=follow_renamed
            ).ingest([desk.documents])
            yield PassageSearch(database, index, encoder.identity)
        finally:
            await index.close()
            await database.close()
