"""Every table, as of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Revisions are history: types are spelt out here, so that a later schema.py does not change the past.
MOMENT = sa.DateTime(timezone=True)
ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade(op: Operations) -> None:
    """Create every table."""
    _create_entries(op)
    _create_knowledge(op)
    _create_tickets(op)
    _create_traffic(op)
    _create_administration(op)


def _create_entries(op: Operations) -> None:
    op.create_table(
        "entries",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("valid_from", sa.Date(), nullable=True),
        sa.Column("valid_until", sa.Date(), nullable=True),
        sa.Column("review_by", sa.Date(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("indexed_revision", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_entries"),
    )
    op.create_index("ix_entries_behind", "entries", ["indexed_revision", "revision"])
    op.create_index("ix_entries_tenant_state", "entries", ["tenant", "state"])
    op.create_table(
        "entry_history",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("entry_id", sa.String(36), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("change", sa.String(40), nullable=False),
        sa.Column("snapshot", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_entry_history"),
    )
    op.create_index("ix_entry_history_entry_id", "entry_history", ["entry_id"])
    op.create_table(
        "entry_phrasings",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("entry_id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("normalised", sa.Text(), nullable=False),
        sa.Column("exact_key", sa.LargeBinary(16), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name="fk_entry_phrasings_entry_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_entry_phrasings"),
    )
    op.create_index("ix_entry_phrasings_entry_id", "entry_phrasings", ["entry_id"])
    op.create_index("ix_entry_phrasings_tenant_exact_key", "entry_phrasings", ["tenant", "exact_key"])


def _create_knowledge(op: Operations) -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("path", sa.String(1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("indexed_version", sa.String(64), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.UniqueConstraint("path", name="uq_documents_path"),
    )
    op.create_table(
        "passages",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_passages_document_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_passages"),
    )
    op.create_index("ix_passages_document_id", "passages", ["document_id"])


def _create_tickets(op: Operations) -> None:
    op.create_table(
        "tickets",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("asker", sa.Text(), nullable=True),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("real_question", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("turns", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.String(12), nullable=False),
        sa.Column("reason", sa.String(60), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("claimed_by", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("entry_id", sa.String(36), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("answered_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tickets"),
    )
    op.create_index("ix_tickets_request_id", "tickets", ["request_id"])
    op.create_index("ix_tickets_tenant_state_created_at", "tickets", ["tenant", "state", "created_at"])
    op.create_table(
        "ticket_events",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("ticket_id", sa.String(16), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("event", sa.String(20), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name="fk_ticket_events_ticket_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ticket_events"),
    )
    op.create_index("ix_ticket_events_ticket_id", "ticket_events", ["ticket_id"])


def _create_traffic(op: Operations) -> None:
    op.create_table(
        "feedback",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("verdict", sa.String(10), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.String(36), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
    )
    op.create_index("ix_feedback_request_id", "feedback", ["request_id"])
    op.create_table(
        "outcomes",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("question_hash", sa.String(64), nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(60), nullable=False),
        sa.Column("tier", sa.String(10), nullable=True),
        sa.Column("entry_id", sa.String(36), nullable=True),
        sa.Column("ticket_id", sa.String(16), nullable=True),
        sa.Column("faithfulness", sa.Float(), nullable=True),
        sa.Column("unchecked", sa.Boolean(), nullable=False),
        sa.Column("gate_score", sa.Float(), nullable=True),
        sa.Column("stage_ms", sa.JSON(), nullable=False),
        sa.Column("ms", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outcomes"),
    )
    op.create_index("ix_outcomes_at", "outcomes", ["at"])
    op.create_index("ix_outcomes_request_id", "outcomes", ["request_id"])


def _create_administration(op: Operations) -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("hash", name="uq_api_keys_hash"),
    )
    op.create_table(
        "settings",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
    )
