"""What reviewers taught the gate."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, String, Table, UniqueConstraint

from storage.schema.base import FreeText, Moment, SealedText, metadata

__all__ = ["gate_examples"]

gate_examples = Table(
    "gate_examples",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("text", SealedText, nullable=False),
    Column("exact_key", LargeBinary(16), nullable=False),  # of the words alone: each stands here once
    Column("label", String(10), nullable=False),  # must | may | must_not
    Column("topic", String(40), nullable=False, default=""),  # of must_not
    Column("state", String(10), nullable=False),  # candidate | accepted | rejected
    Column("ticket_id", String(16), index=True),  # where a reviewer saw it
    Column("request_id", String(64)),
    Column("by", FreeText, nullable=False),  # who proposed it
    Column("at", Moment, nullable=False),
    Column("decided_by", FreeText),
    Column("decided_at", Moment),
    # Counts the decisions of a tenant: replicas see by the highest one whether they are behind.
    Column("decision", Integer, nullable=False, default=0),
    UniqueConstraint("tenant", "exact_key"),
    Index(None, "tenant", "state", "at"),
)
