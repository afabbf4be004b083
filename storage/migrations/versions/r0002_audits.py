"""What reviewers said of sampled hits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# Revisions are history: types are spelt out here, so that a later schema.py does not change the past.
MOMENT = sa.DateTime(timezone=True)
COUNT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade(op: Operations) -> None:
    """Create the windows that hits are counted in, and the hits drawn from them."""
    op.create_table(
        "audit_windows",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("model", sa.String(128), nullable=False),
        sa.Column("since", sa.String(40), nullable=False),
        sa.Column("cut", sa.Float(), nullable=False),
        sa.Column("lookups", COUNT, nullable=False),
        sa.Column("exact_hits", COUNT, nullable=False),
        sa.Column("vector_hits", COUNT, nullable=False),
        sa.Column("drift", sa.JSON(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("breached_at", MOMENT, nullable=True),
        sa.Column("action", sa.String(10), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit_windows"),
        sa.UniqueConstraint(
            "tenant", "language", "model", "since", name="uq_audit_windows_tenant_language_model_since"
        ),
    )
    op.create_table(
        "audits",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("window_id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("tier", sa.String(10), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("phrasing", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.String(36), nullable=False),
        sa.Column("entry_revision", sa.Integer(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(10), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("judged_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["window_id"], ["audit_windows.id"], name="fk_audits_window_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_audits"),
    )
    op.create_index("ix_audits_tenant_verdict_at", "audits", ["tenant", "verdict", "at"])
    op.create_index("ix_audits_window_id_verdict", "audits", ["window_id", "verdict"])
