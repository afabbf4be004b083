"""Examples that reviewers taught the gate."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Create the table."""
    op.create_table(
        "gate_examples",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("exact_key", sa.LargeBinary(16), nullable=False),
        sa.Column("label", sa.String(10), nullable=False),
        sa.Column("topic", sa.String(40), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("ticket_id", sa.String(16)),
        sa.Column("request_id", sa.String(64)),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Text()),
        sa.Column("decided_at", sa.DateTime(timezone=True)),
        sa.Column("decision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_gate_examples"),
        sa.UniqueConstraint("tenant", "exact_key", name="uq_gate_examples_tenant_exact_key"),
    )
    op.create_index("ix_gate_examples_tenant_state_at", "gate_examples", ["tenant", "state", "at"])
    op.create_index("ix_gate_examples_ticket_id", "gate_examples", ["ticket_id"])
