"""Users and their roles. A role may do what the lower ones may, in one tenant."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.database import reading, writing
from gateway.errors import Conflict, InvalidRequest, NotFound, UserDisabled
from gateway.people.names import refuse_taken
from gateway.people.passwords import hashed
from gateway.people.tenants import check_tenant
from storage.schema import memberships, sessions, users
from storage.sql import Database
from storage.texts import storable

__all__ = ["Membership", "Person", "PersonRole", "UserRecord", "Users", "memberships_of"]

PersonRole = Literal["viewer", "reviewer", "admin"]
_RANK: dict[PersonRole, int] = {"viewer": 0, "reviewer": 1, "admin": 2}
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Membership:
    """What a user may do in a tenant."""

    tenant: str
    role: PersonRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who is signed in, in one tenant."""

    id: str
    name: str  # what the histories of tickets and entries show
    tenant: str
    role: PersonRole
    memberships: tuple[Membership, ...] = ()
    language: str = ""  # of the interface; empty: the browser's
    theme: str = ""  # light | dark; empty: the system's

    def may(self, role: PersonRole) -> bool:
        """Whether the person's role includes `role`."""
        return _RANK[self.role] >= _RANK[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRecord:
    """A user as stored."""

    id: str
    name: str
    password: str | None  # its hash
    subject: str | None
    created_at: datetime
    disabled_at: datetime | None
    memberships: tuple[Membership, ...]


class Users:
    """All users, of all tenants."""

    def __init__(self, db: Database, *, reserved: Collection[tuple[str, str]] = ()) -> None:
        """`reserved`: tenants and labels of the keys that the settings hold."""
        self._db = db
        self._reserved = reserved

    async def add(self, name: str, *, tenant: str, role: PersonRole, password: str | None = None) -> None:
        """A new user, or a role in one more tenant for a known one. A password replaces the present one.

        Raises:
            InvalidRequest: naming what can't be used.
            NameTaken: if a key of the tenant is called so.
        """
        name = _checked(name, tenant, role)
        kept = None if password is None else await hashed(password)
        found = await self.find(name)
        if found is None and kept is None:
            raise InvalidRequest("a new user needs a password", param="password")
        values = {"user_id": found.id if found else str(uuid.uuid4()), "tenant": tenant, "role": role}
        try:
            async with writing(self._db, "users") as connection:
                if found is None:
                    row = _row(values["user_id"], name) | {"password": kept}
                    await connection.execute(insert(users).values(row))
                elif kept is not None:
                    await connection.execute(
                        update(users).where(users.c.id == found.id).values(password=kept)
                    )
                await self._set_role(connection, name, values)
        except IntegrityError as exc:
            raise Conflict(f"the user {name} was made by somebody else just now") from exc

    async def welcome(self, subject: str, name: str, *, tenant: str, role: PersonRole) -> str:
        """The user whom the identity provider knows as `subject`, with the role it gives them; the user's id.

        Raises:
            Conflict: if another user or a key of the tenant has that name already.
            InvalidRequest: naming what can't be used.
            UserDisabled: if they are kept out, whatever the provider says.
        """
        name = _checked(name, tenant, role)
        if subject != storable(subject):
            raise InvalidRequest("a user's subject has no NUL", param="subject")
        query = select(users.c.id, users.c.disabled_at).where(users.c.subject == subject)
        try:
            async with writing(self._db, "users") as connection:
                known = (await connection.execute(query)).first()
                if known and known.disabled_at:
                    raise UserDisabled(f"{name} is disabled")
                id_ = known.id if known else str(uuid.uuid4())
                if not known:
                    await connection.execute(insert(users).values(_row(id_, name) | {"subject": subject}))
                await self._set_role(connection, name, {"user_id": id_, "tenant": tenant, "role": role})
        except IntegrityError as exc:
            raise Conflict(f"another user is called {name}") from exc
        return str(id_)

    async def find(self, name: str) -> UserRecord | None:
        """One user by name; nobody has one that no database takes."""
        name = name.strip()[: LONGEST_NAME + 1]
        found = await self._records(name=name) if name == storable(name) else ()
        return found[0] if found else None

    async def list(self, *, tenant: str | None = None) -> list[UserRecord]:
        """All users by name, or those with a role in a tenant."""
        return [
            one
            for one in await self._records()
            if tenant is None or tenant in [member.tenant for member in one.memberships]
        ]

    async def disable(self, name: str) -> None:
        """Keep a user out from now on: their sessions end. A repeat changes nothing."""
        await self._change(name, {"disabled_at": datetime.now(UTC)})

    async def set_password(self, name: str, password: str) -> None:
        """Give a user another password, and let them in again; their sessions end."""
        await self._change(name, {"password": await hashed(password), "disabled_at": None})

    async def prefer(self, user_id: str, *, language: str | None = None, theme: str | None = None) -> None:
        """Keep how a user likes the console."""
        given = {"language": language, "theme": theme}
        values = {name: value for name, value in given.items() if value is not None}
        async with writing(self._db, "users") as connection:
            await connection.execute(update(users).where(users.c.id == user_id).values(values))

    async def _change(self, name: str, values: Mapping[str, Any]) -> None:
        found = await self.find(name)
        if found is None:
            raise NotFound(f"there is no user {name}")
        async with writing(self._db, "users") as connection:
            await connection.execute(update(users).where(users.c.id == found.id).values(values))
            await connection.execute(delete(sessions).where(sessions.c.user_id == found.id))

    async def _set_role(self, connection: AsyncConnection, name: str, values: Mapping[str, str]) -> None:
        of = (memberships.c.user_id == values["user_id"], memberships.c.tenant == values["tenant"])
        known = await connection.execute(delete(memberships).where(*of))
        if not known.rowcount:  # new to the tenant
            tenant = values["tenant"]
            await refuse_taken(connection, name, tenant=tenant, param="name", reserved=self._reserved)
        await connection.execute(insert(memberships).values(values))

    async def _records(self, *, name: str | None = None) -> Sequence[UserRecord]:
        query = select(users).order_by(users.c.name)
        if name is not None:
            query = query.where(users.c.name == name)
        async with reading(self._db, "users") as connection:
            rows = (await connection.execute(query)).mappings().all()
            return [
                UserRecord(
                    id=row["id"],
                    name=row["name"],
                    password=row["password"],
                    subject=row["subject"],
                    created_at=row["created_at"],
                    disabled_at=row["disabled_at"],
                    memberships=await memberships_of(connection, row["id"]),
                )
                for row in rows
            ]


async def memberships_of(connection: AsyncConnection, user_id: str) -> tuple[Membership, ...]:
    """A user's roles, by tenant."""
    query = select(memberships.c.tenant, memberships.c.role).where(memberships.c.user_id == user_id)
    rows = await connection.execute(query.order_by(memberships.c.tenant))
    return tuple(Membership(tenant, role) for tenant, role in rows)


def _row(id_: str, name: str) -> dict[str, Any]:
    return {"id": id_, "name": name, "language": "", "theme": "", "created_at": datetime.now(UTC)}


def _checked(name: str, tenant: str, role: str) -> str:
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidRequest(f"a user's name has 1 to {LONGEST_NAME} printable characters", param="name")
    check_tenant(tenant)
    if role not in get_args(PersonRole):
        raise InvalidRequest(f"role is one of {', '.join(get_args(PersonRole))}", param="role")
    return name
