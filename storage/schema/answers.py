"""What was answered lately, kept for some days so that a thumbs down can be looked into."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, String, Table

from storage.schema.base import EVERYBODY, Moment, RowNumber, SealedJson, SealedText, metadata

__all__ = ["answers"]

answers = Table(
    "answers",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("at", Moment, nullable=False, index=True),
    Column("tenant", String(64), nullable=False),
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # the asker's
    Column("request_id", String(64), nullable=False),
    Column("asker", SealedText),
    Column("language", String(8), nullable=False),
    Column("real_question", SealedText, nullable=False),
    Column("question", SealedText, nullable=False),
    Column("self_contained", Boolean, nullable=False),
    Column("turns", SealedJson, nullable=False),
    Column("steps", SealedJson, nullable=False),  # what every stage found, the answer among it
    Column("entry_id", String(36)),  # None: RAG answered
    Index(None, "tenant", "request_id"),
)
