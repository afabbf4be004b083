"""That something was deleted, by whom and how much: never what."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Index, String, Table

from storage.schema.base import FreeText, Moment, metadata

__all__ = ["erasures"]

erasures = Table(
    "erasures",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("tenant", String(64), nullable=False),  # empty: all of them, by age
    Column("by", FreeText, nullable=False),
    Column("kind", String(10), nullable=False),  # asker | age
    Column("asker_key", String(64)),  # a hash: whether somebody was forgotten can be shown, not who was
    Column("counts", JSON, nullable=False),  # {table: rows}
    Column("entries", JSON, nullable=False),  # ids of entries with a phrasing in their words
    Index(None, "tenant", "at"),
)
