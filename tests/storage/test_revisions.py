"""What a revision does to a store that people have filled."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, bindparam, inspect, select, text

from storage import migrations
from storage.migrations import running
from storage.schema import outcome_hours
from storage.schema import outcomes as outcome_table
from storage.sql import Database
from tests.figures.made_up import outcomes, write

ENTRY = text(
    "INSERT INTO entries (id, tenant, kind, language, answer, state, owner, sources, revision,"
    " indexed_revision, created_at, updated_at) VALUES (:id, 'acme', 'ground_truth', 'en', 'a', 'active', '',"
    " :sources, 3, 3, '2026-04-01 00:00:00', '2026-04-01 00:00:00')"
)


def _at(revision: str, connection: Connection) -> None:
    """The schema as it was at a revision, in an empty database."""
    scripts = running.scripts()

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


async def test_outcomes_from_before_are_counted_as_if_they_had_been_counted_when_written(
    database: Database,
) -> None:
    now = datetime(2026, 3, 11, 15, 42, 7, tzinfo=UTC)
    rows = [replace(row, tokens_in=None, tokens_out=None) for row in outcomes(2, 300, until=now, days=5)]
    await write(database, rows)
    written = await _counted(database)
    await _emptied(database)
    async with database.begin() as connection:
        await connection.run_sync(lambda sync: _at("0005", sync))
        columns = await connection.run_sync(lambda sync: inspect(sync).get_columns("outcomes"))
        then = {column["name"] for column in columns}
        values = [{k: v for k, v in row.values().items() if k in then} for row in rows]
        names = ", ".join(values[0])
        places = ", ".join(f":{name}" for name in values[0])
        kinds = [bindparam(name, type_=outcome_table.c[name].type) for name in values[0]]
        await connection.execute(
            text(f"INSERT INTO outcomes ({names}) VALUES ({places})").bindparams(*kinds), values
        )
        await connection.run_sync(migrations.upgrade)
    assert await _counted(database) == written


async def _counted(database: Database) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    async with database.connect() as connection:
        for row in await connection.execute(select(outcome_hours).order_by(*outcome_hours.primary_key)):
            found.append(tuple(round(v, 6) if isinstance(v, float) else v for v in row))
    return found
