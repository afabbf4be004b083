"""What reviewers said of drafts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Create the table."""
    op.create_table(
        "draft_labels",
        sa.Column("ticket_id", sa.String(16), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("contexts", sa.JSON(), nullable=False),
        sa.Column("faithful", sa.Boolean(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("ticket_id", name="pk_draft_labels"),
    )
    op.create_index("ix_draft_labels_tenant", "draft_labels", ["tenant"])
