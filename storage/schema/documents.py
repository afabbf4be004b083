"""The documents that the operator keeps, and their passages."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, String, Table, text

from storage.schema.base import FreeText, Moment, metadata

__all__ = ["documents", "passages"]

documents = Table(
    "documents",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("path", String(1024), nullable=False, unique=True),  # relative to its corpus, or a URL
    Column("title", FreeText, nullable=False),
    Column("version", String(64), nullable=False),  # sha256 of the text
    Column("language", String(8), nullable=False),
    Column("text", FreeText, nullable=False),
    Column(
        "cut", String(64), nullable=False, server_default=text("''")
    ),  # sha256 of how it was cut into passages
    Column("indexed_version", String(64), nullable=False, default=""),
    Column("updated_at", Moment, nullable=False),
)

passages = Table(
    "passages",
    metadata,
    Column("id", String(36), primary_key=True),  # also the id of its point in the index
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("heading", FreeText, nullable=False, default=""),
    Column("text", FreeText, nullable=False),
)
