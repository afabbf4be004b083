"""When an answer was told in the conversation, and which tickets a notice has told of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Add the column and the table."""
    op.add_column("tickets", sa.Column("told_at", sa.DateTime(timezone=True)))
    op.create_index("ix_tickets_asker", "tickets", ["asker"], postgresql_using="hash")
    op.create_table(
        "notices",
        sa.Column("target", sa.String(40), nullable=False),
        sa.Column("ticket_id", sa.String(16), nullable=False),
        sa.Column("what", sa.String(10), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name="fk_notices_ticket_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("target", "ticket_id", "what", name="pk_notices"),
    )
    op.create_index("ix_notices_ticket_id", "notices", ["ticket_id"])
