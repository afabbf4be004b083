"""Documents keep how they were cut into passages: what is cut otherwise now is cut again at start-up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Add the column; of what is there nobody knows it."""
    op.add_column("documents", sa.Column("cut", sa.String(64), nullable=False, server_default=sa.text("''")))
