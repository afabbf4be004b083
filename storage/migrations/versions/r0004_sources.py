"""Which group an entry is for; how the entries of a document are found."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BATCH = 1_000


def upgrade(op: Operations) -> None:
    """Add the columns, and the table that is filled from what entries already say."""
    for table in ("entries", "tickets", "api_keys"):
        op.add_column(table, sa.Column("group", sa.String(40), nullable=False, server_default=sa.text("''")))
    op.create_index("ix_tickets_entry_id", "tickets", ["entry_id"])
    op.create_table(
        "entry_sources",
        sa.Column("entry_id", sa.String(36), nullable=False),
        sa.Column("document_key", sa.LargeBinary(16), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name="fk_entry_sources_entry_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", "document_key", name="pk_entry_sources"),
    )
    op.create_index("ix_entry_sources_document_key", "entry_sources", ["document_key"])
    _fill(op.get_bind())
    # The points of the index lack the group that questions are now narrowed to.
    op.execute("UPDATE entries SET indexed_revision = 0")


def _fill(connection: sa.Connection) -> None:
    entries = sa.table("entries", sa.column("id", sa.String), sa.column("sources", sa.JSON))
    keys = sa.table(
        "entry_sources", sa.column("entry_id", sa.String), sa.column("document_key", sa.LargeBinary)
    )
    last = ""
    while True:
        some = sa.select(entries).where(entries.c.id > last).order_by(entries.c.id).limit(BATCH)
        rows = connection.execute(some).all()
        if not rows:
            return
        last = rows[-1].id
        if found := [row for entry in rows for row in _keys(entry.id, entry.sources)]:
            connection.execute(sa.insert(keys), found)


def _keys(entry: str, sources: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    documents = {source["document"] for source in sources}
    return [
        {"entry_id": entry, "document_key": blake2b(name.encode(), digest_size=16).digest()}
        for name in sorted(documents)
    ]
