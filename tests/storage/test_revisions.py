"""What a revision does to a store that people have filled."""

from __future__ import annotations

from hashlib import blake2b

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text

from storage import migrations
from storage.sql import Database

ENTRY = text(
    "INSERT INTO entries (id, tenant, kind, language, answer, state, owner, sources, revision,"
    " indexed_revision, created_at, updated_at) VALUES (:id, 'acme', 'ground_truth', 'en', 'a', 'active', '',"
    " :sources, 3, 3, '2026-04-01 00:00:00', '2026-04-01 00:00:00')"
)


def _at(revision: str, connection: Connection) -> None:
    """The schema as it was at a revision, in an empty database."""
    scripts = migrations._scripts()

    def steps(heads: tuple[str, ...], _: MigrationContext) -> object:
        return scripts._upgrade_revs(revision, heads)  # type: ignore[arg-type]

    context = MigrationContext.configure(connection, opts={"fn": steps})
    context.run_migrations(op=Operations(context))


async def _emptied(database: Database) -> None:
    async with database.begin() as connection:
        names = await connection.run_sync(lambda sync: sync.dialect.get_table_names(sync))
        cascade = " CASCADE" if connection.dialect.name == "postgresql" else ""
        for name in names:
            await connection.execute(text(f'DROP TABLE "{name}"{cascade}'))


async def test_entries_from_before_are_for_everybody_found_by_document_and_indexed_again(
    database: Database,
) -> None:
    await _emptied(database)
    async with database.begin() as connection:
        await connection.run_sync(lambda sync: _at("0003", sync))
        source = '[{"document": "手数料.md", "version": "1"}, {"document": "手数料.md", "version": "2"}]'
        await connection.execute(ENTRY, [{"id": "e-1", "sources": source}, {"id": "e-2", "sources": "[]"}])
        await connection.run_sync(migrations.upgrade)
        entries = (
            await connection.execute(text('SELECT "group", indexed_revision FROM entries ORDER BY id'))
        ).all()
        sources = (await connection.execute(text("SELECT entry_id, document_key FROM entry_sources"))).all()
    assert [tuple(row) for row in entries] == [("", 0), ("", 0)]
    assert [tuple(row) for row in sources] == [
        ("e-1", blake2b("手数料.md".encode(), digest_size=16).digest())
    ]
