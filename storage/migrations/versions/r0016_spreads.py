"""The index keeps how far the phrasings of an entry spread: every entry is indexed again at start-up."""

from __future__ import annotations

from alembic.operations import Operations

__all__: list[str] = []

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    """Forget what was indexed, so that it is found to be behind."""
    op.execute("UPDATE entries SET indexed_revision = 0")
