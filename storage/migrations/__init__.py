"""From any older schema to the present one, on the connection that is given."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

__all__ = ["NewerSchema", "upgrade"]

# "Sekisho" in a 64-bit number: replicas that start together migrate one after the other.
ADVISORY_LOCK = int.from_bytes(b"Sekisho", "big")


class NewerSchema(Exception):  # noqa: N818 - errors are named as facts
    """The database was written by a later release, or by something else."""


def upgrade(connection: Connection) -> None:
    """Bring the schema to the newest revision, inside the transaction that is open.

    Alembic's own `command.upgrade` hands the connection round in module-level proxies, which two
    databases opened by one process would share. Here each revision gets its operations as an argument.

    Raises:
        NewerSchema: if the database has a revision that this release does not know.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK})
    scripts = _scripts()
    known = {script.revision for script in scripts.walk_revisions()}

    def steps(heads: tuple[str, ...], _: MigrationContext) -> list[RevisionStep]:
        if unknown := set(heads) - known:
            raise NewerSchema(", ".join(sorted(unknown)))
        return scripts._upgrade_revs("head", heads)  # type: ignore[arg-type]  # what `alembic upgrade` runs

    context = MigrationContext.configure(connection, opts={"fn": steps})
    context.run_migrations(op=Operations(context))


def _scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)
