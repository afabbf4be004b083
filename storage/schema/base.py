"""What all tables share: names of constraints, and types that both databases keep alike."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    Integer,
    MetaData,
    Text,
    TypeDecorator,
    text,
    type_coerce,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.sealing import MARK, NotOpened, Seal
from storage.texts import storable

__all__ = [
    "EVERYBODY",
    "FreeText",
    "Moment",
    "RowNumber",
    "SealedJson",
    "SealedText",
    "holds",
    "metadata",
    "use_seal",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Moment(TypeDecorator[datetime]):
    """A point in time: aware going in, aware UTC coming out, of both databases."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC; SQLite drops the zone, so all moments there must share one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment needs a time zone, got the naive {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment as aware UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class FreeText(TypeDecorator[str]):
    """What people write. PostgreSQL takes no NUL, and neither database takes half a surrogate pair."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text with "?" or U+FFFD where a character cannot be stored: no ticket is lost over it."""
        return None if value is None else storable(value)


class SealedText(FreeText):
    """What an asker wrote: sealed where the operator gave a key."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text as it is stored; what only looks sealed is marked as text."""
        text = self._storable(value, dialect)
        seal = _seal_of(dialect)
        return seal.seal(text) if seal and text is not None else text

    def forms(self, value: str, dialect: Dialect) -> tuple[str, ...]:
        """All ways in which the text may be stored: rows written before a key was given keep theirs."""
        text = self._storable(value, dialect) or ""
        seal = _seal_of(dialect)
        return seal.forms(text) if seal else (text,)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """The text again."""
        return None if value is None else _opened(value, dialect)

    def _storable(self, value: str | None, dialect: Dialect) -> str | None:
        text = super().process_bind_param(value, dialect)
        return "\ufffd" + text[1:] if text and text.startswith(MARK) else text


class SealedJson(TypeDecorator[Any]):
    """JSON with what an asker wrote: where it is sealed, a JSON string."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """The value as it is stored."""
        seal = _seal_of(dialect)
        if value is None or seal is None or seal.key is None:
            return value
        return seal.seal(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode())

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """The value again."""
        sealed = isinstance(value, str) and value.startswith(MARK)
        return json.loads(_opened(value, dialect)) if sealed else value


def _opened(stored: str, dialect: Dialect) -> str:
    if not stored.startswith(MARK):
        return stored
    seal = _seal_of(dialect)
    if seal is None:
        raise NotOpened("a text is sealed, and storage.encryption_key is not set")
    return seal.open(stored)


def holds(connection: AsyncConnection, column: Column[Any], value: str) -> ColumnElement[bool]:
    """Whether a sealed column holds this text, however it was stored; `==` asks for the present key alone."""
    assert isinstance(column.type, SealedText)  # noqa: S101 - a slip of whoever writes the query
    return type_coerce(column, Text()).in_(column.type.forms(value, connection.dialect))


def use_seal(dialect: Dialect, seal: Seal | None) -> None:
    """Let all columns of one database be sealed and opened so: a type is only ever told its dialect."""
    setattr(dialect, _SEAL, seal)


def _seal_of(dialect: Dialect) -> Seal | None:
    """The seal of one database."""
    found: Seal | None = getattr(dialect, _SEAL, None)
    return found


_SEAL = "sekisho_seal"

# One row for every question: 2^31 would last two months at 400 questions a second.
# SQLite counts in 64 bits, and only if the type is INTEGER.
RowNumber = BigInteger().with_variant(Integer(), "sqlite")

EVERYBODY = text("''")  # the group of what everybody of a tenant may read
