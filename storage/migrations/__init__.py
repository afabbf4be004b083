"""From any older schema to the present one, on the connection that is given."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

__all__ = ["NewerSchema", "upgrade"]

# "Sekisho" in a 64-bit number: replicas that start together migrate one after the other.
ADVISORY_LOCK = int.from_bytes(b"Sekisho", "big")


class NewerSchema(Exception):  # noqa: N818 - errors are named as facts
    """The database was written by a later release, or by something else."""


def upgrade(connection: Connection) -> None:
    """Bring the schema to the newest revision, inside the transaction that is open.

    Raises:
        NewerSchema: if the database has a revision that this release does not know.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK})
    if _revisions(connection) == [_newest()]:
        return
    from storage.migrations.running import migrate

    migrate(connection)


def _revisions(connection: Connection) -> list[str]:
    """What Alembic noted in the database."""
    if not inspect(connection).has_table("alembic_version"):
        return []
    return list(connection.scalars(text("SELECT version_num FROM alembic_version")))


def _newest() -> str:
    """The last of versions/rNNNN_name.py."""
    return max(file.name[1:5] for file in Path(__file__).with_name("versions").glob("r[0-9]*.py"))
