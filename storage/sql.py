"""The truth: SQLite in one file, or PostgreSQL by URL, behind one small door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import structlog
from anyio import to_thread
from sqlalchemy import URL, Connection, NullPool, event, exc, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from storage import migrations, sqlite
from storage.address import AddressError, database_file, driver_url, place
from storage.outages import DatabaseUnavailable, explanation, is_outage
from storage.quick import READERS, WRITERS, Quick
from storage.schema import metadata
from storage.schema.base import use_seal
from storage.sealing import Seal

__all__ = ["Database", "DatabaseUnavailable"]

BUSY_TIMEOUT_S = 10.0  # another process may hold SQLite's write lock while it imports a large file
CHECKED_BYTES = 256 * 1024 * 1024  # quick_check reads the whole file, about a second for this much
CONNECT_TIMEOUT_S = 10.0
# A server that is gone without a word must not hold a page or an import for ever; an asker waits less
# (`storage.quick`). What nobody waits for, as an index on a large table after an upgrade, takes its time.
STATEMENT_TIMEOUT_S = 60.0
POOL_TIMEOUT_S = 20.0
OTHERS = 0o007  # permissions of who is neither owner nor in the group
READ_ONLY = "25006"  # SQLSTATE of a server that takes no changes at the moment
READERS_S = 5.0  # that who reads is waited for before files are purged; in SQLite one try may wait as long
READERS_WAIT_S = 0.25
# Sessions of other roles are seen with pg_read_all_stats only.
_NO_OLDER_READER = text("""
    SELECT NOT EXISTS (
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < :deleted
            AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    )
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Engines:
    """Pools of connections; some may be the same."""

    reader: AsyncEngine
    writer: AsyncEngine
    quick_reader: AsyncEngine
    quick_writer: AsyncEngine
    patient: AsyncEngine  # its statements have no time limit

    @property
    def all(self) -> tuple[AsyncEngine, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


class Database:
    """Pools of connections to one database, whose schema is the present one."""

    def __init__(self, url: URL, engines: _Engines) -> None:
        self._url = url
        self._engines = engines
        self._quick = Quick(
            connect=lambda: self._opened(engines.quick_reader.connect()),
            begin=lambda: self._opened(engines.quick_writer.begin()),
            place=place(url),
        )

    @classmethod
    async def open(cls, url: str, *, seal: Seal | None = None) -> Database:
        """Create what is missing, migrate to the present schema, and check that the store is sound.

        With a seal, what askers wrote is sealed from now on (`storage.resealing` seals what is there).

        Raises:
            DatabaseUnavailable: naming file or host (never the password), and what to do.
        """
        try:
            address = driver_url(url)
        except AddressError as error:
            raise DatabaseUnavailable(str(error)) from error
        file = database_file(address)
        if file is None:
            database = cls(address, _server_engines(address))
        else:
            await to_thread.run_sync(_make_folder, file)
            database = cls(address, _file_engines(address))
        for engine in database._engines.all:
            use_seal(engine.sync_engine.dialect, seal)
        try:
            await database._prepare(file)
        except BaseException:
            await database.close()
            raise
        return database

    @property
    def url(self) -> str:
        """Where the data is, with the password masked."""
        return self._url.render_as_string(hide_password=True)

    @property
    def quick(self) -> Quick:
        """The door for what an asker waits for."""
        return self._quick

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A write transaction: committed at the end of the block, rolled back on an exception.

        Raises:
            DatabaseUnavailable: if the store failed. A refused value or a broken constraint stays what it is.
        """
        return self._opened(self._engines.writer.begin())

    def connect(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection to read with: every statement sees the newest commit, and there is no transaction.

        Statements that must agree with each other, streams and writes belong into `begin`.

        Raises:
            DatabaseUnavailable: if the store failed.
        """
        return self._opened(self._engines.reader.connect())

    async def purge(self) -> bool:
        """Let nothing that was deleted stay in the files of the database; False if a reader held it up.

        SQLite has overwritten what it freed, and its log is emptied; PostgreSQL's dead rows are vacuumed,
        which leaves those that a transaction from before may still read.

        Raises:
            DatabaseUnavailable: if the store failed.
        """
        if self._url.get_backend_name() == "sqlite":
            return await self._empty_log()
        patient = self._engines.patient.execution_options(isolation_level="AUTOCOMMIT")
        async with self._opened(patient.connect()) as connection:
            deleted = {"deleted": await connection.scalar(text("SELECT clock_timestamp()"))}
            alone = await _in_time(lambda: connection.scalar(_NO_OLDER_READER, deleted))
            for table in metadata.sorted_tables:
                await connection.execute(text(f'VACUUM "{table.name}"'))
        return alone

    async def _empty_log(self) -> bool:
        async def emptied() -> bool:
            async with self.connect() as connection:
                return not await connection.scalar(text("PRAGMA wal_checkpoint(TRUNCATE)"))

        return await _in_time(emptied)

    async def close(self) -> None:
        """Give files and sockets back."""
        for engine in self._engines.all:
            await engine.dispose()

    async def _prepare(self, file: Path | None) -> None:
        try:
            async with self._opened(self._engines.patient.begin()) as connection:
                if file is not None:
                    await connection.run_sync(_check_file, file)
                await connection.run_sync(migrations.upgrade)
        except _Damaged as error:
            raise DatabaseUnavailable(
                f"{place(self._url)} is damaged ({error}). Restore it from a backup, "
                "or move it away to start with an empty one."
            ) from error
        except migrations.NewerSchema as error:
            raise DatabaseUnavailable(
                f"{place(self._url)} has schema revision {error}, which this release does not know. "
                "Use the release that wrote it or a later one, or restore a backup made before the upgrade."
            ) from error

    @asynccontextmanager
    async def _opened(
        self, opening: AbstractAsyncContextManager[AsyncConnection]
    ) -> AsyncIterator[AsyncConnection]:
        """A connection; `DatabaseUnavailable` is made of what means that the store failed us."""
        try:
            async with opening as connection:
                yield connection
        except (exc.SQLAlchemyError, TimeoutError) as error:
            if isinstance(error, exc.SQLAlchemyError) and not is_outage(error):
                raise
            raise DatabaseUnavailable(explanation(self._url, error)) from error


async def _in_time(tried: Callable[[], Awaitable[bool | None]]) -> bool:
    """Try until it is done; False if readers hold it up for too long."""
    until = monotonic() + READERS_S
    while not await tried():
        if monotonic() >= until:
            return False
        await asyncio.sleep(READERS_WAIT_S)
    return True


class _Damaged(Exception):  # noqa: N818 - errors are named as facts
    """SQLite found pages that contradict each other."""


def _check_file(connection: Connection, file: Path) -> None:
    if file.stat().st_size > CHECKED_BYTES:
        return
    verdict = connection.execute(text("PRAGMA quick_check(1)")).scalar_one()
    if verdict != "ok":
        raise _Damaged(" ".join(str(verdict).split()))


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # what askers wrote is nobody else's
    except OSError as error:
        raise DatabaseUnavailable(
            f"the folder {file.parent} of the SQLite file {file.name} cannot be made: {error.strerror}. "
            "Choose another path, or make the folder and let this user write there."
        ) from error
    if file.parent.stat().st_mode & OTHERS:  # it was there before; who needs it so is not ours to guess
        log = structlog.get_logger("sekisho.storage")
        log.warning("folder open to every user of this machine", mend=f"chmod 700 {file.parent}")


def _file_engines(url: URL) -> _Engines:
    """Many readers without transactions beside one writer: what SQLite's WAL can do.

    A reader needs neither BEGIN nor ROLLBACK, each of which is a hop to the connection's thread.
    """
    reading = ("PRAGMA query_only=ON",)
    writing = (
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "PRAGMA foreign_keys=ON",
        "PRAGMA secure_delete=ON",  # what an asker wants forgotten must not stay in free pages
    )
    driver = {"async_creator_fn": sqlite.connect, "patience_s": BUSY_TIMEOUT_S}
    reader = _engine(
        url,
        connect_args={**driver, "pragmas": reading},
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        skip_autocommit_rollback=True,  # there is nothing to roll back, and asking costs a crossing
        pool_timeout=POOL_TIMEOUT_S,
        pool_size=4,
        max_overflow=12,
        pool_use_lifo=True,
    )
    writer = _engine(
        url,
        connect_args={**driver, "pragmas": writing, "isolation_level": None},
        pool_timeout=POOL_TIMEOUT_S,
        pool_size=1,
        max_overflow=0,
    )

    @event.listens_for(writer.sync_engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # a deferred one fails when it turns to writing

    return _Engines(reader=reader, writer=writer, quick_reader=reader, quick_writer=writer, patient=writer)


def _server_engines(url: URL) -> _Engines:
    """Askers have connections of their own: none waits behind a page or an import that waits itself."""
    if find_spec("asyncpg") is None:
        raise DatabaseUnavailable(
            f"{place(url)} needs the driver asyncpg: install it with pip install 'sekisho[postgres]'"
        )
    from storage import postgres

    async def connected(*args: Any, **options: Any) -> Any:
        try:
            return await postgres.connect(*args, **options)
        except (OSError, ValueError, TypeError) as error:  # no host, no route, no answer, no such option
            raise DatabaseUnavailable(explanation(url, error)) from error

    arguments = {"async_creator_fn": connected, "timeout": CONNECT_TIMEOUT_S}
    limited = {**arguments, "command_timeout": STATEMENT_TIMEOUT_S}
    writer = _server_engine(url, limited, pool_size=3, max_overflow=7)
    quick = _server_engine(url, limited, pool_size=5, max_overflow=READERS + WRITERS - 5)
    return _Engines(
        reader=writer.execution_options(isolation_level="AUTOCOMMIT"),
        writer=writer,
        quick_reader=quick.execution_options(isolation_level="AUTOCOMMIT"),
        quick_writer=quick,
        patient=_engine(url, connect_args=arguments, poolclass=NullPool),
    )


def _server_engine(url: URL, connect_args: dict[str, Any], **sizes: int) -> AsyncEngine:
    engine = _engine(
        url,
        connect_args=connect_args,
        pool_timeout=POOL_TIMEOUT_S,
        **sizes,
        pool_pre_ping=True,  # after a fail-over the first ticket must not be the one that finds out
        pool_recycle=1800,
    )
    event.listen(engine.sync_engine, "handle_error", _reconnect)
    return engine


def _reconnect(context: ExceptionContext) -> None:
    """After a fail-over, or a time without writing, a session may go on refusing what a new one takes."""
    if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
        context.is_disconnect = True


def _engine(url: URL, *, connect_args: dict[str, Any], **options: Any) -> AsyncEngine:
    return create_async_engine(
        url,
        hide_parameters=True,  # they are people's questions; errors are logged
        json_serializer=_json,
        connect_args=connect_args,
        **options,
    )


def _json(value: object) -> str:
    """Readable, and without halves of surrogate pairs, which no database takes."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
