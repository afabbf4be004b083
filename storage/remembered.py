"""What the gateway remembers of itself: values by name, each replaced whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.schema.access import settings
from storage.upserting import insert_into

__all__ = ["Basis", "forget", "read_as", "recall", "recall_all", "remember", "remember_first"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a value was made for, as the fields of a subclass; made for anything else it means nothing."""

    def changed_since(self, before: Mapping[str, Any]) -> tuple[str, ...]:
        """What differs, by name."""
        return tuple(name for name, value in asdict(self).items() if before.get(name) != value)


def read_as(form: TypeAdapter[T], value: object, *, otherwise: T) -> T:
    """A value in the form it is kept in, `otherwise` where a hand or another release wrote it differently."""
    try:
        return form.validate_python(value)
    except ValidationError:
        return otherwise


async def recall(connection: AsyncConnection, name: str, *, lock: bool = False) -> Any:
    """The value of a name, None if it has none; `lock` keeps others from replacing it until the commit."""
    query = select(settings.c.value).where(settings.c.name == name)
    return await connection.scalar(query.with_for_update() if lock else query)


async def recall_all(connection: AsyncConnection, prefix: str) -> dict[str, Any]:
    """The values of all names that begin with the prefix."""
    name = settings.c.name
    rows = await connection.execute(
        select(name, settings.c.value).where(name.startswith(prefix, autoescape=True))
    )
    return {row.name: row.value for row in rows}


async def remember(connection: AsyncConnection, values: Mapping[str, Any]) -> None:
    """Keep values by name in place of the present ones; in the order of names, so that two can't deadlock."""
    adding = insert_into(connection, settings)
    new = {column: adding.excluded[column] for column in ("value", "updated_at")}
    for name in sorted(values):
        row = _row(name, values[name])
        await connection.execute(adding.on_conflict_do_update(index_elements=["name"], set_=new), row)


async def remember_first(connection: AsyncConnection, name: str, value: Any) -> bool:
    """Keep a value if its name has none; False if someone was faster."""
    adding = insert_into(connection, settings).on_conflict_do_nothing(index_elements=["name"])
    added = await connection.execute(adding.returning(settings.c.name), _row(name, value))
    return added.first() is not None


async def forget(connection: AsyncConnection, prefix: str, *, before: datetime) -> None:
    """Forget the values of all names that begin with the prefix and were kept before a time."""
    named = settings.c.name.startswith(prefix, autoescape=True)
    await connection.execute(delete(settings).where(named, settings.c.updated_at < before))


def _row(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "updated_at": datetime.now(UTC)}
