"""The stores that retrieval is tested on, too."""

from __future__ import annotations

from tests.rag.conftest import database, encoder, index

__all__ = ["database", "encoder", "index"]
