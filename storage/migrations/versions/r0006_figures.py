"""Outcomes counted by the hour, with what went before; who asked, and what a draft took."""

from __future__ import annotations

import math
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
KEYS = ("tenant", "hour", "language", "outcome", "reason", "tier", "unchecked")
BIN_KEYS = ("tenant", "hour", "measure", "language", "bin")


def upgrade(op: Operations) -> None:
    """Add the columns and the two tables, and count what is there."""
    group = sa.Column("group", sa.String(40), nullable=False, server_default=sa.text("''"))
    op.add_column("outcomes", group)
    op.add_column("outcomes", sa.Column("tokens_in", sa.Integer()))
    op.add_column("outcomes", sa.Column("tokens_out", sa.Integer()))
    op.create_index("ix_outcomes_tenant_outcome_at", "outcomes", ["tenant", "outcome", "at"])
    op.create_index("ix_tickets_tenant_answered_at", "tickets", ["tenant", "answered_at"])
    hours, bins = _create_hours(op), _create_bins(op)
    _fill(op.get_bind(), hours, bins)


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
        sa.Column("n", NUMBER, nullable=False),
        sa.Column("lookups", NUMBER, nullable=False),
        sa.Column("checked", NUMBER, nullable=False),
        sa.Column("supported", NUMBER, nullable=False),
        sa.Column("faithfulness", sa.Float(), nullable=False),
        sa.Column("ms", sa.Float(), nullable=False),
        sa.Column("drafted", NUMBER, nullable=False),
        sa.Column("drafted_ms", sa.Float(), nullable=False),
        sa.Column("metered", NUMBER, nullable=False),
        sa.Column("tokens_in", NUMBER, nullable=False),
        sa.Column("tokens_out", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint(*KEYS, name="pk_outcome_hours"),
        sqlite_with_rowid=False,
    )


def _create_bins(op: Operations) -> sa.Table:
    return op.create_table(
        "outcome_bins",
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("hour", MOMENT, nullable=False),
        sa.Column("measure", sa.String(40), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("bin", sa.SmallInteger(), nullable=False),
        sa.Column("n", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint(*BIN_KEYS, name="pk_outcome_bins"),
        sqlite_with_rowid=False,
    )


def _fill(connection: sa.Connection, hours: sa.Table, bins: sa.Table) -> None:
    counts: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    places: Counter[tuple[Any, ...]] = Counter()
    for row in _outcomes(connection):
        hour = row.at.replace(minute=0, second=0, microsecond=0)
        key = (row.tenant, hour, row.language, row.outcome, row.reason, row.tier or "", row.unchecked)
        counts[key].update(_counted(row))
        places.update((row.tenant, hour, name, row.language, place) for name, place in _measured(row))
    if counts:
        rows = [dict(zip(KEYS, key, strict=True)) | dict(sums) for key, sums in counts.items()]
        connection.execute(sa.insert(hours), rows)
        rows = [dict(zip(BIN_KEYS, key, strict=True)) | {"n": n} for key, n in places.items()]
        connection.execute(sa.insert(bins), rows)


def _outcomes(connection: sa.Connection) -> Iterable[Any]:
    table = sa.table(
        "outcomes",
        *(sa.column(name) for name in ("id", "tenant", "language", "outcome", "reason", "tier")),
        *(sa.column(name, sa.Float()) for name in ("faithfulness", "ms")),
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
        "checked": int(row.faithfulness is not None),
        "supported": int(row.faithfulness == 1.0),
        "faithfulness": row.faithfulness or 0.0,
        "ms": row.ms,
        "drafted": int(drafted),
        "drafted_ms": spent if drafted else 0.0,
        "metered": 0,
        "tokens_in": 0,
        "tokens_out": 0,
    }


def _measured(row: Any) -> Iterable[tuple[str, int]]:
    yield f"ms:{row.outcome}", _ms_bin(row.ms)
    for stage, ms in row.stage_ms.items():
        yield f"stage:{stage}", _ms_bin(ms)
    if row.faithfulness is not None:
        yield "faithfulness", min(int(row.faithfulness * 20 + 1e-9), 20)


def _ms_bin(ms: float) -> int:
    return 0 if ms <= 0.01 else min(1 + int(math.log(ms / 0.01) / math.log(1.1)), 200)
