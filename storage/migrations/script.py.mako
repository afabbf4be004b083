"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade(op: Operations) -> None:
    """${message}."""
    ${upgrades if upgrades else "pass"}
