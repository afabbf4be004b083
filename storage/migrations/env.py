"""For developers: `alembic revision --autogenerate`. The gateway itself calls `migrations.upgrade`."""

from __future__ import annotations

from alembic import context
from alembic.operations import Operations
from sqlalchemy import create_engine

from storage.schema import metadata

__all__: list[str] = []

url = context.config.get_main_option("sqlalchemy.url") or context.get_x_argument(as_dictionary=True)["url"]
engine = create_engine(url)
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=metadata, compare_type=True)
    with context.begin_transaction():
        context.run_migrations(op=Operations(context.get_context()))
engine.dispose()
