"""The names by which those who act are told apart: labels of keys, and names of the console's users.

Tickets, entries, examples and verdicts keep who did something by that name, and compare it: who holds a
ticket, who may not approve their own, who was not content. So nobody gets a name that another has in the
tenant. That of a revoked key is free again: its successor has what it held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import ConfigurationError, NameTaken
from gateway.settings import AuthSettings
from storage.locking import one_at_a_time
from storage.schema import api_keys, memberships, users
from storage.sql import Database

__all__ = ["check_names", "label_of", "refuse_taken"]

A_KEY, A_USER = "an API key", "a user of the console"


def label_of(key_id: str, label: str) -> str:
    """What a stored key is called, with a label or without."""
    return label or f"key {key_id[:8]}"


async def refuse_taken(
    connection: AsyncConnection, name: str, *, tenant: str, param: str, reserved: Collection[tuple[str, str]]
) -> None:
    """Let a key or a user be made under a name in the open transaction, once.

    Args:
        reserved: tenants and labels of the keys that the settings hold.

    Raises:
        NameTaken: naming who has it.
    """
    await one_at_a_time(connection, tenant, space=20261123)
    found = [who for owner, known, who in await _names(connection) if (owner, known) == (tenant, name)]
    if (tenant, name) in reserved:
        found.append("an API key of the settings")
    if found:
        raise NameTaken(
            f"{param}: expected a name that nobody else in {tenant} has; {found[0]} is called “{name}”",
            param=param,
        )


async def check_names(database: Database, auth: AuthSettings) -> None:
    """At the start: refuse a label of the settings that is somebody else's, and tell of names that two have.

    Raises:
        ConfigurationError: naming the key.
    """
    async with database.connect() as connection:
        known = await _names(connection)
    whose = {(tenant, name): who for tenant, name, who in known}
    for place, (key, label) in enumerate(zip(auth.keys, auth.labels, strict=True)):
        if who := whose.get((key.tenant, label)):
            raise ConfigurationError(
                f"auth.keys[{place}].label: expected one that nobody else in {key.tenant} has; "
                f"{who} is called “{label}”, too"
            )
    counts = Counter((tenant, name) for tenant, name, _ in known)
    for (tenant, name), count in counts.items():
        if count > 1:  # from an earlier release: revoke one of them
            structlog.get_logger("sekisho.people").warning("name shared", tenant=tenant, name=name)


async def _names(connection: AsyncConnection) -> list[tuple[str, str, str]]:
    """All names in SQL: tenant, name, and what has it."""
    keys = select(api_keys.c.tenant, api_keys.c.id, api_keys.c.label).where(api_keys.c.revoked_at.is_(None))
    labels = [(row.tenant, label_of(row.id, row.label), A_KEY) for row in await connection.execute(keys)]
    members = select(memberships.c.tenant, users.c.name).join(users, users.c.id == memberships.c.user_id)
    return labels + [(row.tenant, row.name, A_USER) for row in await connection.execute(members)]
