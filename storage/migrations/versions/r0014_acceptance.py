"""Blind acceptance tests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Create the tables."""
    op.create_table(
        "acceptance_tests",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("margin", sa.Float(), nullable=False),
        sa.Column("commitment", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_acceptance_tests"),
    )
    op.create_index("ix_acceptance_tests_tenant", "acceptance_tests", ["tenant"])
    op.create_table(
        "acceptance_pairs",
        sa.Column("test_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("left", sa.Text(), nullable=False),
        sa.Column("right", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("test_id", "number", name="pk_acceptance_pairs"),
        sa.ForeignKeyConstraint(
            ["test_id"], ["acceptance_tests.id"], name="fk_acceptance_pairs_test_id", ondelete="CASCADE"
        ),
    )
    row_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "acceptance_votes",
        sa.Column("id", row_number, nullable=False),
        sa.Column("test_id", sa.String(36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("better", sa.String(5), nullable=False),
        sa.Column("critical", sa.JSON(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("chain", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_acceptance_votes"),
        sa.ForeignKeyConstraint(
            ["test_id"], ["acceptance_tests.id"], name="fk_acceptance_votes_test_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_acceptance_votes_test_id_id", "acceptance_votes", ["test_id", "id"])
