"""Which errors mean that the database is out, and what to tell the operator."""

from __future__ import annotations

import sqlite3

from sqlalchemy import URL, exc

from storage.address import place

__all__ = ["DatabaseUnavailable", "explanation", "is_outage"]

# SQLSTATE classes of statements and values that PostgreSQL refused; there is nothing wrong with the server.
OURS = frozenset({"0A", "21", "22", "23", "26", "42", "44"})
NO_PRIVILEGE = "42501"

ADVICE = {
    "malformed": "The file is damaged: restore it from a backup, or move it away to start with an empty one.",
    "not a database": "Choose another path, or restore the file from a backup.",
    "unable to open": "Check that its folder exists and that this user may write there.",
    "readonly": "Check that this user may write the file and its folder.",
    "locked": "Another process holds the write lock: let it finish, or stop it, then try again.",
    "disk is full": "Free some space on the disk.",
    "disk I/O error": "Check the disk and that this user may write the file and its folder.",
    "locking protocol": "SQLite needs a local disk: move the file off the network drive, or use PostgreSQL.",
}
SQLSTATE_ADVICE = {
    "28": "Check user and password of the database URL.",
    "3D": "Create the database, or correct its name in the database URL.",
    "53": "The server is out of connections, memory or disk.",
    NO_PRIVILEGE: "Grant this user the right to create and change tables in the schema.",
}


class DatabaseUnavailable(Exception):  # noqa: N818 - errors are named as facts
    """The store of truth could not be opened, read or written."""


def is_outage(error: exc.SQLAlchemyError) -> bool:
    """Whether the store failed us, as against a statement or a value that it rightly refused."""
    if isinstance(error, exc.TimeoutError):
        return True
    if not isinstance(error, exc.DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return isinstance(error.orig, sqlite3.OperationalError) or type(error.orig) is sqlite3.DatabaseError
    state = _sqlstate(error)
    if state is None:  # asyncpg itself: a lost connection, or a value of the wrong type
        return not isinstance(getattr(error.orig, "__cause__", None), ValueError)
    return state == NO_PRIVILEGE or state[:2] not in OURS


def explanation(url: URL, error: Exception) -> str:
    """Where, what and what to do. Without the statement and its values, which may hold texts."""
    said = str(error.orig) if isinstance(error, exc.DBAPIError) else str(error)
    said = said.partition(": ")[2] if said.startswith("<class") else said
    advice = _advice(error, said)
    return f"{place(url)} cannot be used: {said or type(error).__name__}. {advice}".strip()


def _advice(error: Exception, said: str) -> str:
    if isinstance(error, exc.TimeoutError):
        return "All connections are busy: there is more load than the database takes."
    if isinstance(error, OSError):
        return "Check that the server runs, and that host and port of the database URL are right."
    state = _sqlstate(error) if isinstance(error, exc.DBAPIError) else None
    if state is not None:
        return SQLSTATE_ADVICE.get(state, SQLSTATE_ADVICE.get(state[:2], ""))
    return next((advice for words, advice in ADVICE.items() if words in said), "")


def _sqlstate(error: exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
