"""Questions that wait for a person, and what happened to them."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table

from storage.schema.base import EVERYBODY, FreeText, Moment, RowNumber, SealedJson, SealedText, metadata

__all__ = ["asked_by_somebody", "ticket_events", "tickets"]

tickets = Table(
    "tickets",
    metadata,
    Column("id", String(16), primary_key=True),  # T-7K3M9Q2X: read out over the telephone
    Column("tenant", String(64), nullable=False),
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # the asker's
    Column("request_id", String(64), nullable=False, index=True),
    Column("asker", SealedText),
    Column("language", String(8), nullable=False),
    Column("real_question", SealedText, nullable=False),
    Column("question", SealedText, nullable=False),
    Column("turns", SealedJson, nullable=False, default=list),  # the conversation before it
    Column("outcome", String(12), nullable=False),  # withheld | escalated | answered | disputed | stale_entry
    Column("reason", String(60), nullable=False),
    Column("steps", SealedJson, nullable=False, default=list),  # what every stage found
    Column("state", String(10), nullable=False),  # open | claimed | answered | dismissed
    Column("claimed_by", FreeText),
    Column("answer", SealedText),
    Column("entry_id", String(36), index=True),  # the verified entry it became, or asks to review
    Column("revision", Integer, nullable=False, default=1),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("answered_at", Moment),
    Column("told_at", Moment),  # in the conversation
    Index(None, "tenant", "state", "created_at"),
    Index(None, "state", "created_at", "id"),  # what waits, of all tenants: read every few seconds
    Index(None, "asker", postgresql_using="hash"),  # of any length: clients name their askers as they like
    Index(None, "tenant", "answered_at"),
)

asked_by_somebody = tickets.c.outcome != "stale_entry"  # those ask for an entry to be read again

ticket_events = Table(
    "ticket_events",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("ticket_id", ForeignKey("tickets.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("by", FreeText, nullable=False),
    Column("event", String(20), nullable=False),  # what happened: opened, claimed, answered, told …
    Column("detail", SealedJson, nullable=False, default=dict),
)
