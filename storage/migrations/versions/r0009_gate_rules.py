"""Which rule of the gate decided, and what those in shadow mode would have said."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Add the columns."""
    op.add_column("outcomes", sa.Column("gate_label", sa.String(10)))
    op.add_column("outcomes", sa.Column("gate_rule", sa.String(60)))
    op.add_column("outcomes", sa.Column("shadow", sa.JSON(none_as_null=True)))
    only = sa.text("shadow IS NOT NULL")
    op.create_index(
        "ix_outcomes_in_shadow", "outcomes", ["tenant", "id"], sqlite_where=only, postgresql_where=only
    )
