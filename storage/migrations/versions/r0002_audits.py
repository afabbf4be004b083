"""What reviewers said of sampled hits."""

from __future__ import annotations

from alembic.operations import Operations

__all__: list[str] = []

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Nothing yet."""
