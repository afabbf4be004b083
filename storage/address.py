"""Database URLs as operators write them, made into the URL of an async driver."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

__all__ = ["AddressError", "database_file", "driver_url", "place"]

EXPECTED = "expected sqlite:///path/to/sekisho.db or postgresql://user:password@host:5432/database"
DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}


class AddressError(ValueError):
    """The URL names no database that Sekisho can use."""


def driver_url(text: str) -> URL:
    """The URL with its async driver.

    Raises:
        AddressError: if the URL is malformed, of another database, or in memory. Its message never
            repeats the URL, which may hold a password.
    """
    try:
        url = make_url(text)
    except ArgumentError as exc:
        raise AddressError(f"the database URL cannot be read; {EXPECTED}") from exc
    if url.drivername not in DRIVERS:
        raise AddressError(f"no database driver for {url.drivername!r}; {EXPECTED}")
    url = url.set(drivername=DRIVERS[url.drivername])
    if url.get_backend_name() == "sqlite":
        return _on_disk(url)
    return _with_asyncpg_names(url)


def database_file(url: URL) -> Path | None:
    """The file of a SQLite database; None for a server."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def place(url: URL) -> str:
    """File, or host, port and database: what to name in a message. Never a user or password."""
    if url.get_backend_name() == "sqlite":
        return f"SQLite file {url.database}"
    host = url.host or url.query.get("host", "localhost")
    port = f":{url.port}" if url.port else ""
    return f"PostgreSQL at {host}{port}, database {url.database or 'of the same name as the user'}"


def _on_disk(url: URL) -> URL:
    if not url.database or url.database == ":memory:" or url.query.get("mode") == "memory":
        raise AddressError(f"a database in memory would lose entries and tickets; {EXPECTED}")
    if url.database.startswith("file:"):
        raise AddressError(f"SQLite's own file: addresses are not supported; {EXPECTED}")
    return url


def _with_asyncpg_names(url: URL) -> URL:
    """libpq says `sslmode`, asyncpg says `ssl`; the values are the same."""
    mode = url.query.get("sslmode")
    if mode is None:
        return url
    return url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
