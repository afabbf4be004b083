"""Answers by RAG are audited, too: what they were written from, and whether they say that."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Add the columns."""
    op.add_column("audits", sa.Column("contexts", sa.JSON()))
    op.add_column("audits", sa.Column("faithful", sa.Boolean()))
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("audit_windows", sa.Column("rag_answers", number, nullable=False, server_default="0"))
