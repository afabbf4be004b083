"""Which tenants there are, and what they may be called.

A name that nobody has is a typing error wherever something has to be there.
"""

from __future__ import annotations

from sqlalchemy import select, union

from gateway.errors import InvalidRequest
from gateway.settings import Settings
from storage.schema import api_keys, entries, memberships
from storage.sql import Database
from storage.texts import storable

__all__ = ["check_tenant", "known_tenants", "refuse_unknown"]

LONGEST_NAME = 64


def check_tenant(name: str) -> str:
    """The name, if a tenant may be called so.

    Raises:
        InvalidRequest: saying what would do.
    """
    if not 0 < len(name) <= LONGEST_NAME or name != storable(name.strip()):
        raise InvalidRequest(
            f"a tenant's name has 1 to {LONGEST_NAME} characters, no space before or behind and no NUL",
            param="tenant",
        )
    return name


async def known_tenants(database: Database, settings: Settings) -> frozenset[str]:
    """All with a key, a member or an entry, and the default one."""
    named = union(*(select(table.c.tenant) for table in (api_keys, memberships, entries)))
    async with database.connect() as connection:
        found = set(await connection.scalars(named))
    return frozenset({"default", *found, *(key.tenant for key in settings.auth.keys)})


async def refuse_unknown(database: Database, settings: Settings, tenant: str) -> None:
    """Refuse a tenant that has nothing.

    Raises:
        InvalidRequest: naming those that have.
    """
    known = await known_tenants(database, settings)
    if tenant not in known:
        listed = ", ".join(sorted(known))
        raise InvalidRequest(f"--tenant: {tenant} has no key, no member and no entry; known are {listed}")
