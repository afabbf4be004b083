"""Phrasings that people suggested."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Create the table."""
    op.create_table(
        "suggestions",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("entry_id", sa.String(36), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("exact_key", sa.LargeBinary(16), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(10), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name="fk_suggestions_entry_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_suggestions"),
        sa.UniqueConstraint("entry_id", "exact_key", name="uq_suggestions_entry_id_exact_key"),
    )
    op.create_index("ix_suggestions_tenant_state_at", "suggestions", ["tenant", "state", "at"])
