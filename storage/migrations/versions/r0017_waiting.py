"""Indexes for what waits of all tenants, and for the audits of a request."""

from __future__ import annotations

from alembic.operations import Operations

__all__: list[str] = []

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Add the indexes."""
    op.create_index("ix_tickets_state_created_at_id", "tickets", ["state", "created_at", "id"])
    op.create_index("ix_audits_request_id", "audits", ["request_id"])
