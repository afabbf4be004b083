"""Outcomes, counted by the hour as they are written: figures are read from here, not from every question."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, SmallInteger, String, Table

from storage.schema.base import Moment, RowNumber, metadata

__all__ = ["outcome_hours"]

# In the order in which they are asked for: one tenant's rows of a period lie together.
outcome_hours = Table(
    "outcome_hours",
    metadata,
    Column("tenant", String(64), primary_key=True),
    Column("hour", Moment, primary_key=True),  # its beginning
    Column("language", String(8), primary_key=True),
    Column("outcome", String(20), primary_key=True),
    Column("reason", String(60), primary_key=True),
    Column("tier", String(10), primary_key=True),  # empty where the cache did not answer
    Column("unchecked", Boolean, primary_key=True),
    # Of the draft: which twentieth F falls into, 20 is F = 1 alone; -1 where no draft was judged.
    Column("faithfulness_bin", SmallInteger, primary_key=True),
    Column("n", RowNumber, nullable=False),
    Column("lookups", RowNumber, nullable=False),  # of them went to the cache
    Column("faithfulness", Float, nullable=False),  # sum of F
    Column("drafted", RowNumber, nullable=False),  # went to RAG
    Column("drafted_ms", Float, nullable=False),  # time in RAG and in the check of its draft
    Column("metered", RowNumber, nullable=False),  # of them with a token count from the chatbot
    Column("tokens_in", RowNumber, nullable=False),
    Column("tokens_out", RowNumber, nullable=False),
    sqlite_with_rowid=False,
)
