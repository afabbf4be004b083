"""Phrasings and near-miss answers that people suggested."""

from __future__ import annotations

from alembic.operations import Operations

__all__: list[str] = []

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Nothing yet."""
