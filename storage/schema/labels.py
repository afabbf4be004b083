"""What reviewers said of drafts: labels to calibrate and to test the judges by."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, String, Table

from storage.schema.base import FreeText, Moment, SealedJson, SealedText, metadata

__all__ = ["draft_labels"]

draft_labels = Table(
    "draft_labels",
    metadata,
    Column("ticket_id", String(16), primary_key=True),  # one draft a ticket, one label a draft
    Column("tenant", String(64), nullable=False, index=True),
    Column("language", String(8), nullable=False),
    Column("question", SealedText, nullable=False),
    Column("answer", SealedText, nullable=False),  # the draft, as the chatbot wrote it
    Column("contexts", SealedJson, nullable=False),
    Column("faithful", Boolean, nullable=False),
    Column("by", FreeText, nullable=False),
    Column("at", Moment, nullable=False),
)
