"""What was answered lately; whose thumb it was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade(op: Operations) -> None:
    """Create the table, and add the column."""
    op.create_table(
        "answers",
        sa.Column("id", _ROW_NUMBER, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("group", sa.String(40), nullable=False, server_default=sa.text("''")),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("asker", sa.Text()),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("real_question", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("self_contained", sa.Boolean(), nullable=False),
        sa.Column("turns", sa.JSON(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("entry_id", sa.String(36)),
        sa.PrimaryKeyConstraint("id", name="pk_answers"),
    )
    op.create_index("ix_answers_at", "answers", ["at"])
    op.create_index("ix_answers_tenant_request_id", "answers", ["tenant", "request_id"])
    op.add_column("feedback", sa.Column("asker", sa.Text()))
    op.create_index("ix_feedback_entry_id_at", "feedback", ["entry_id", "at"])
