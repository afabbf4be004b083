"""Outcomes counted by the hour, with what went before; who asked, and what a draft took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

__all__: list[str] = []

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BATCH = 10_000
KEYS = ("tenant", "hour", "language", "outcome", "reason", "tier", "unchecked", "faithfulness_bin")


def upgrade(op: Operations) -> None:
    """Add the columns and the table, and count what is there."""
    group = sa.Column("group", sa.String(40), nullable=False, server_default=sa.text("''"))
    op.add_column("outcomes", group)
    op.add_column("outcomes", sa.Column("tokens_in", sa.Integer()))
    op.add_column("outcomes", sa.Column("tokens_out", sa.Integer()))
    op.create_index("ix_outcomes_tenant_at", "outcomes", ["tenant", "at"])
    op.create_index("ix_outcomes_tenant_outcome_at", "outcomes", ["tenant", "outcome", "at"])
    op.create_index("ix_tickets_tenant_answered_at", "tickets", ["tenant", "answered_at"])
    _fill(op.get_bind(), _create_hours(op))


def _create_hours(op: Operations) -> sa.Table:
    return op.create_table(
        "outcome_hours",
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("hour", MOMENT, nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(60), nullable=False),
        sa.Column("tier", sa.String(10), nullable=False),
        sa.Column("unchecked", sa.Boolean(), nullable=False),
        sa.Column("faithfulness_bin", sa.SmallInteger(), nullable=False),
        sa.Column("n", NUMBER, nullable=False),
        sa.Column("lookups", NUMBER, nullable=False),
        sa.Column("faithfulness", sa.Float(), nullable=False),
        sa.Column("drafted", NUMBER, nullable=False),
        sa.Column("drafted_ms", sa.Float(), nullable=False),
        sa.Column("metered", NUMBER, nullable=False),
        sa.Column("tokens_in", NUMBER, nullable=False),
        sa.Column("tokens_out", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint(*KEYS, name="pk_outcome_hours"),
        sqlite_with_rowid=False,
    )


def _fill(connection: sa.Connection, hours: sa.Table) -> None:
    counts: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for row in _outcomes(connection):
        hour = row.at.replace(minute=0, second=0, microsecond=0)
        share = -1 if row.faithfulness is None else int(row.faithfulness * 20 + 1e-9)
        alike = (row.language, row.outcome, row.reason, row.tier or "", row.unchecked, share)
        counts[row.tenant, hour, *alike].update(_counted(row))
    if counts:
        rows = [dict(zip(KEYS, key, strict=True)) | dict(sums) for key, sums in counts.items()]
        connection.execute(sa.insert(hours), rows)


def _outcomes(connection: sa.Connection) -> Iterable[Any]:
    table = sa.table(
        "outcomes",
        *(sa.column(name) for name in ("id", "tenant", "language", "outcome", "reason", "tier")),
        sa.column("faithfulness", sa.Float()),
        sa.column("at", MOMENT),
        sa.column("unchecked", sa.Boolean()),
        sa.column("stage_ms", sa.JSON()),
    )
    last = -1
    while True:
        some = sa.select(table).where(table.c.id > last).order_by(table.c.id).limit(BATCH)
        rows = connection.execute(some).all()
        if not rows:
            return
        yield from rows
        last = rows[-1].id


def _counted(row: Any) -> dict[str, Any]:
    drafted = "rag" in row.stage_ms
    spent = row.stage_ms.get("rag", 0.0) + row.stage_ms.get("faithfulness", 0.0)
    return {
        "n": 1,
        "lookups": int("cache" in row.stage_ms),
        "faithfulness": row.faithfulness or 0.0,
        "drafted": int(drafted),
        "drafted_ms": spent if drafted else 0.0,
        "metered": 0,
        "tokens_in": 0,
        "tokens_out": 0,
    }
