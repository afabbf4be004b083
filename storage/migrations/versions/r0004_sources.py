"""Which group an entry is for; what a changed document makes stale."""

from __future__ import annotations

from alembic.operations import Operations

__all__: list[str] = []

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Nothing yet."""
