"""What has to reach somebody outside."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Create the table."""
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("target", sa.String(40), nullable=False),
        sa.Column("event", sa.String(20), nullable=False),
        sa.Column("ticket_id", sa.String(16)),
        sa.Column("body", sa.JSON()),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name="fk_deliveries_ticket_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_ticket_id", "deliveries", ["ticket_id"])
    op.create_index("ix_deliveries_state_due_at", "deliveries", ["state", "due_at"])
    op.create_index("ix_deliveries_tenant_state_created_at", "deliveries", ["tenant", "state", "created_at"])
