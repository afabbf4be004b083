"""What was deleted and by whom; whose a recorded question was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Create the table, and add the column."""
    op.create_table(
        "erasures",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("asker_key", sa.String(64)),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("entries", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
    )
    op.create_index("ix_erasures_tenant_at", "erasures", ["tenant", "at"])
    op.add_column("outcomes", sa.Column("asker_key", sa.String(64)))
    known = sa.text("asker_key IS NOT NULL")
    op.create_index(
        "ix_outcomes_of_askers", "outcomes", ["asker_key"], sqlite_where=known, postgresql_where=known
    )
