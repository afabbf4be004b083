"""Sessions: a random number in a signed cookie; SQL keeps its hash, so signing out ends it everywhere."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from itsdangerous import BadSignature, Signer, URLSafeTimedSerializer
from sqlalchemy import delete, insert, select, update

from gateway.database import reading, writing
from gateway.errors import NotAllowed
from gateway.people.users import Membership, Person, memberships_of
from storage.remembered import recall, remember_first
from storage.schema import sessions as table
from storage.schema import users
from storage.sql import Database

__all__ = ["Sessions", "console_secret"]

SECRET = "console.secret"  # noqa: S105 - the name of the row that holds it


class Sessions:
    """Who is signed in."""

    def __init__(self, db: Database, *, secret: str, hours: float) -> None:
        self._db = db
        self._signer = Signer(secret, salt="sekisho.console.session", digest_method=hashlib.sha256)
        self._sealer = URLSafeTimedSerializer(secret, salt="sekisho.console.sealed")
        self._lasts = timedelta(hours=hours)

    @property
    def seconds(self) -> int:
        """How long a session lasts."""
        return int(self._lasts.total_seconds())

    async def open(self, user_id: str, tenant: str) -> str:
        """Sign a user in; the cookie's value."""
        now, token = datetime.now(UTC), secrets.token_urlsafe(32)
        row = {
            "id": _hash(token),
            "user_id": user_id,
            "tenant": tenant,
            "created_at": now,
            "expires_at": now + self._lasts,
        }
        async with writing(self._db, "sessions") as connection:
            await connection.execute(delete(table).where(table.c.expires_at <= now))
            await connection.execute(insert(table).values(row))
        return self._signer.sign(token).decode()

    async def find(self, cookie: str | None) -> Person | None:
        """Who holds this cookie, with their present roles; None if signed out, disabled, or time is up."""
        id_ = self._id(cookie)
        if id_ is None:
            return None
        query = (
            select(users, table.c.tenant)
            .join(users, users.c.id == table.c.user_id)
            .where(table.c.id == id_, table.c.expires_at > datetime.now(UTC), users.c.disabled_at.is_(None))
        )
        async with reading(self._db, "sessions") as connection:
            row = (await connection.execute(query)).mappings().first()
            roles = await memberships_of(connection, row["id"]) if row else ()
        if row is None:
            return None
        member = next((one for one in roles if one.tenant == row["tenant"]), None)
        return _person(row["id"], row["name"], member, roles, row["language"], row["theme"])

    async def turn_to(self, cookie: str, tenant: str) -> None:
        """Go on in another of one's tenants. Raises `NotAllowed` if it is not one."""
        person = await self.find(cookie)
        if person is None or tenant not in [one.tenant for one in person.memberships]:
            raise NotAllowed(f"you have no role in the tenant {tenant}")
        async with writing(self._db, "sessions") as connection:
            of_session = update(table).where(table.c.id == self._id(cookie))
            await connection.execute(of_session.values(tenant=tenant))

    async def close(self, cookie: str | None) -> None:
        """Sign out; a repeat changes nothing."""
        async with writing(self._db, "sessions") as connection:
            await connection.execute(delete(table).where(table.c.id == self._id(cookie)))

    def sealed(self, values: Mapping[str, str]) -> str:
        """Values that the browser keeps for us, signed."""
        return self._sealer.dumps(dict(values))

    def unsealed(self, given: str | None, *, max_age_s: int) -> dict[str, str]:
        """What was sealed; nothing if it was changed, or too long ago."""
        try:
            values: dict[str, str] = self._sealer.loads(given or "", max_age=max_age_s)
        except BadSignature:
            return {}
        return values

    def _id(self, cookie: str | None) -> str | None:
        try:
            return _hash(self._signer.unsign(cookie or "").decode())
        except (BadSignature, UnicodeError):
            return None


async def console_secret(db: Database) -> str:
    """The secret that all gateways on this database sign with, made by the first that asks."""
    async with reading(db, "settings") as connection:
        kept = await recall(connection, SECRET)
    if kept is None:
        async with writing(db, "settings") as connection:
            await remember_first(connection, SECRET, secrets.token_urlsafe(48))
        async with reading(db, "settings") as connection:  # another gateway may have been first
            kept = await recall(connection, SECRET)
    return str(kept)


def _person(
    id_: str,
    name: str,
    member: Membership | None,
    roles: tuple[Membership, ...],
    language: str,
    theme: str,
) -> Person | None:
    if member is None:  # the role was taken away since
        return None
    return Person(
        id=id_,
        name=name,
        tenant=member.tenant,
        role=member.role,
        memberships=roles,
        language=language,
        theme=theme,
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
