"""What all tables share: names of constraints, and types that both databases keep alike."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData, Text, TypeDecorator, text

__all__ = ["EVERYBODY", "FreeText", "Moment", "RowNumber", "metadata"]

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
        if value is None or (value.isascii() and "\x00" not in value):
            return value
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


# One row for every question: 2^31 would last two months at 400 questions a second.
# SQLite counts in 64 bits, and only if the type is INTEGER.
RowNumber = BigInteger().with_variant(Integer(), "sqlite")

EVERYBODY = text("''")  # the group of what everybody of a tenant may read
