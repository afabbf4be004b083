"""What has to reach somebody outside: an answer on its way to the asker's side, a notice to the reviewers."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table

from storage.schema.base import FreeText, Moment, SealedJson, metadata

__all__ = ["deliveries", "notices"]

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", String(36), primary_key=True),  # also the id by which the receiver knows a repetition
    Column("tenant", String(64), nullable=False),
    Column("target", String(40), nullable=False),  # the receiver's name in the configuration
    Column("event", String(20), nullable=False),  # ticket.answered | ticket.dismissed | notice
    Column("ticket_id", ForeignKey("tickets.id", ondelete="CASCADE"), index=True),
    Column("body", SealedJson(none_as_null=True)),  # of a notice; a ticket's is made from the ticket
    Column("state", String(10), nullable=False),  # waiting | sent | dead
    Column("attempts", Integer, nullable=False, default=0),
    Column("due_at", Moment, nullable=False),  # of the next attempt; whoever makes it moves it on first
    Column("error", FreeText, nullable=False, default=""),  # of the last attempt
    Column("created_at", Moment, nullable=False),
    Column("sent_at", Moment),
    Index(None, "state", "due_at"),
    Index(None, "tenant", "state", "created_at"),
)

# Which tickets a notice has told of, to whom.
notices = Table(
    "notices",
    metadata,
    Column("target", String(40), primary_key=True),
    Column("ticket_id", ForeignKey("tickets.id", ondelete="CASCADE"), primary_key=True, index=True),
    Column("what", String(10), primary_key=True),  # new | overdue | answered
)
