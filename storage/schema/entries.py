"""Verified entries, what belongs to them, and what became of them."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    UniqueConstraint,
)

from storage.schema.base import EVERYBODY, FreeText, Moment, RowNumber, SealedText, metadata

__all__ = ["entries", "entry_history", "entry_phrasings", "entry_sources", "suggestions"]

entries = Table(
    "entries",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("kind", String(20), nullable=False),  # ground_truth | confirmed_answer
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # who may read it
    Column("language", String(8), nullable=False),
    Column("answer", FreeText, nullable=False),
    Column("state", String(10), nullable=False),  # draft | active | paused | stale | retired
    Column("owner", FreeText, nullable=False, default=""),
    Column("sources", JSON, nullable=False, default=list),  # [{"document", "version"}]
    Column("valid_from", Date),
    Column("valid_until", Date),
    Column("review_by", Date),
    Column("revision", Integer, nullable=False, default=1),
    Column("indexed_revision", Integer, nullable=False, default=0),  # < revision: the index is behind
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index(None, "tenant", "state"),
    Index("ix_entries_behind", "indexed_revision", "revision"),
)

entry_phrasings = Table(
    "entry_phrasings",
    metadata,
    Column("id", String(36), primary_key=True),  # also the id of its point in the index
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("tenant", String(64), nullable=False),
    Column("position", Integer, nullable=False),  # 0 is the entry's question
    Column("text", FreeText, nullable=False),
    Column("normalised", FreeText, nullable=False),
    Column("exact_key", LargeBinary(16), nullable=False),  # hash of `normalised`: short and indexable
    Index(None, "tenant", "exact_key"),
)

# How the entries of a document are found; what they came from, and in which version, says `entries.sources`.
entry_sources = Table(
    "entry_sources",
    metadata,
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
    Column("document_key", LargeBinary(16), primary_key=True, index=True),  # hash of the document's name
)

entry_history = Table(
    "entry_history",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("entry_id", String(36), nullable=False, index=True),
    Column("revision", Integer, nullable=False),
    Column("at", Moment, nullable=False),
    Column("by", FreeText, nullable=False),
    Column("change", String(40), nullable=False),  # created | edited | activated | paused | …
    Column("snapshot", JSON, nullable=False),  # the whole entry after the change
)

suggestions = Table(
    "suggestions",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), nullable=False),
    Column("text", SealedText, nullable=False),
    Column("exact_key", LargeBinary(16), nullable=False),  # of the normalised text: each stands here once
    Column("language", String(8), nullable=False),
    Column("times", Integer, nullable=False, default=1),
    Column("source", String(10), nullable=False),  # accepted | ticket | near_miss | asked
    Column("state", String(10), nullable=False),  # open | accepted | rejected
    Column("by", FreeText, nullable=False),  # who suggested it, then who decided
    Column("at", Moment, nullable=False),  # when that was
    UniqueConstraint("entry_id", "exact_key"),
    Index(None, "tenant", "state", "at"),
)
