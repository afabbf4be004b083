"""Runs Alembic on an open connection, apart from the rest: it takes long to import, and seldom has to run."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from storage.migrations import NewerSchema

__all__ = ["migrate", "scripts"]


def migrate(connection: Connection) -> None:
    """Run the revisions that the database has not seen yet.

    Alembic's own `command.upgrade` hands the connection round in module-level proxies, which two
    databases opened by one process would share. Here each revision gets its operations as an argument.

    Raises:
        NewerSchema: if the database has a revision that this release does not know.
    """
    written = scripts()
    known = {script.revision for script in written.walk_revisions()}

    def steps(heads: tuple[str, ...], _: MigrationContext) -> list[RevisionStep]:
        if unknown := set(heads) - known:
            raise NewerSchema(", ".join(sorted(unknown)))
        return written._upgrade_revs("head", heads)  # type: ignore[arg-type]  # what `alembic upgrade` runs

    context = MigrationContext.configure(connection, opts={"fn": steps})
    context.run_migrations(op=Operations(context))


def scripts() -> ScriptDirectory:
    """All revisions."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return ScriptDirectory.from_config(config)
