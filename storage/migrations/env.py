"""For developers, who write revisions with Alembic's command: see alembic.ini."""

from __future__ import annotations

from alembic import context
from alembic.operations import Operations
from sqlalchemy import create_engine

from storage.schema import metadata

__all__: list[str] = []

engine = create_engine(context.get_x_argument(as_dictionary=True)["url"])
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=metadata, compare_type=True)
    with context.begin_transaction():
        context.run_migrations(op=Operations(context.get_context()))
engine.dispose()
