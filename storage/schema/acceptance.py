"""Blind acceptance tests: which of two answers is better, judged by people who don't know whose they are."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Float, ForeignKey, Index, Integer, String, Table

from storage.schema.base import FreeText, Moment, RowNumber, metadata

__all__ = ["acceptance_pairs", "acceptance_tests", "acceptance_votes"]

acceptance_tests = Table(
    "acceptance_tests",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False, index=True),
    Column("name", FreeText, nullable=False),
    Column("margin", Float, nullable=False),  # stated before anybody judged
    Column("commitment", String(64), nullable=False),  # sha256 of the pairs, the margin and the key
    Column("created_at", Moment, nullable=False),
    Column("created_by", FreeText, nullable=False),
    Column("closed_at", Moment),  # unblinded: no vote counts any more
)

acceptance_pairs = Table(
    "acceptance_pairs",
    metadata,
    Column("test_id", ForeignKey("acceptance_tests.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("case_id", FreeText, nullable=False),
    Column("language", String(8), nullable=False),
    Column("question", FreeText, nullable=False),
    Column("left", FreeText, nullable=False),
    Column("right", FreeText, nullable=False),
)

# Only ever added to: who changes their mind votes again, and the last vote counts.
acceptance_votes = Table(
    "acceptance_votes",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("test_id", ForeignKey("acceptance_tests.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("by", FreeText, nullable=False),
    Column("at", Moment, nullable=False),
    Column("better", String(5), nullable=False),  # left | right | same
    Column("critical", JSON, nullable=False, default=list),  # sides that would do harm: left, right
    Column("comment", FreeText, nullable=False, default=""),
    Column("chain", String(64), nullable=False),  # sha256 of this vote and of the chain before it
    Index(None, "test_id", "id"),
)
