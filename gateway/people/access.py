"""Who asks: API keys with a tenant, a group and a role. A role may do what the lower ones may."""

from __future__ import annotations

import hashlib
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal, Self, cast, get_args

from fastapi import Depends, Request
from sqlalchemy import RowMapping, insert, select, update

from cache.store.content import GROUP
from gateway.database import reading, writing
from gateway.errors import ConfigurationError, InvalidRequest, NotAllowed, NotAuthenticated, NotFound
from gateway.people.names import label_of, refuse_taken
from gateway.people.tenants import check_tenant
from gateway.settings import AuthSettings
from storage.schema import api_keys
from storage.sql import Database
from storage.texts import storable

__all__ = [
    "AdminDep",
    "BootstrapKey",
    "Caller",
    "ClientDep",
    "KeyRecord",
    "Keys",
    "ReviewerDep",
    "Role",
    "bearer",
]

Role = Literal["client", "reviewer", "admin"]
_RANK: dict[Role, int] = {"client": 0, "reviewer": 1, "admin": 2}

KEY_PREFIX = "sk-sekisho-"
_REMEMBERED_S = 5.0  # how long a key that another process revoked may go on
REMEMBERED_KEYS = 4096  # a flood of made-up keys must not fill the memory
SHORTEST_BOOTSTRAP_KEY = 16
LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `label` is the name that histories show, unique in the tenant (`gateway.people.names`)."""

    tenant: str
    role: Role
    label: str
    group: str = ""  # reads its entries and everybody's; nothing in a request can change it

    def may(self, role: Role) -> bool:
        """Whether the caller's role includes `role`."""
        return _RANK[self.role] >= _RANK[role]


@dataclass(frozen=True, slots=True)
class BootstrapKey:
    """A key that the operator's settings hold; it lives as long as the setting."""

    key: str = field(repr=False)
    tenant: str
    role: Role
    label: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """A stored key, without the key itself: only its hash was kept."""

    id: str
    tenant: str
    role: Role
    group: str
    label: str
    created_at: datetime
    revoked_at: datetime | None


ANONYMOUS = Caller("default", "client", "anonymous")


class Keys:
    """API keys: 256 random bits, of which only the SHA-256 is stored.

    What was found is remembered for a few seconds, so a key revoked by another process stops
    working within that time; one revoked here stops at once.
    """

    def __init__(
        self,
        db: Database,
        *,
        bootstrap: Sequence[BootstrapKey] = (),
        required: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._required = required
        self._clock = clock
        self._bootstrap = {_hash(known.key): _bootstrapped(known) for known in bootstrap}
        self._names = {(known.tenant, known.label) for known in bootstrap}
        self._remembered: dict[str, tuple[float, Caller | None]] = {}
        self._revoked = 0  # keys, in this process

    @classmethod
    def of(cls, auth: AuthSettings, db: Database) -> Self:
        """The keys of a database, and those of the settings."""
        known = [
            BootstrapKey(key.key.get_secret_value(), key.tenant, key.role, label, key.group)
            for key, label in zip(auth.keys, auth.labels, strict=True)
        ]
        return cls(db, bootstrap=known, required=auth.required)

    async def create(self, tenant: str, role: Role, label: str = "", *, group: str = "") -> str:
        """Make a key; the caller shows it once, it can't be read again.

        Raises:
            InvalidRequest: naming what can't be used.
            NameTaken: if somebody else in the tenant has that label.
        """
        _check_owner(tenant, role, label, group)
        key = KEY_PREFIX + secrets.token_urlsafe(32)
        row = {
            "id": str(uuid.uuid4()),
            "tenant": tenant,
            "role": role,
            "group": group,
            "label": label,
            "hash": _hash(key),
            "created_at": datetime.now(UTC),
        }
        async with writing(self._db, "API keys") as connection:
            if label:
                await refuse_taken(connection, label, tenant=tenant, param="label", reserved=self._names)
            await connection.execute(insert(api_keys).values(row))
        return key

    async def caller(self, key: str | None) -> Caller:
        """Who holds this key.

        Raises:
            NotAuthenticated: if there is none, or we don't know it, or it was revoked.
        """
        known = await self._known(key) if key else None
        if known is not None:
            return known
        if not self._required:
            return ANONYMOUS
        if key:
            raise NotAuthenticated("this API key is not known, or it was revoked")
        raise NotAuthenticated("no API key was given: send it as `Authorization: Bearer sk-sekisho-…`")

    async def list(self, *, tenant: str | None = None) -> list[KeyRecord]:
        """All stored keys, the newest first; the operator's own settings are not among them."""
        query = select(api_keys).order_by(api_keys.c.created_at.desc(), api_keys.c.id)
        if tenant is not None:
            query = query.where(api_keys.c.tenant == tenant)
        async with reading(self._db, "API keys") as connection:
            return [_record(row) for row in (await connection.execute(query)).mappings()]

    async def revoke(self, key_id: str) -> None:
        """Make a key useless; a repeat changes nothing."""
        at = datetime.now(UTC)
        of_key = api_keys.c.id == storable(key_id)
        async with writing(self._db, "API keys") as connection:
            exists = (await connection.execute(select(api_keys.c.id).where(of_key))).first()
            unrevoked = update(api_keys).where(of_key, api_keys.c.revoked_at.is_(None))
            await connection.execute(unrevoked.values(revoked_at=at))
        if exists is None:
            raise NotFound(f"there is no key {storable(key_id)}")
        self._revoked += 1
        self._remembered.clear()

    async def _known(self, key: str) -> Caller | None:
        digest = _hash(key)
        if (known := self._bootstrap.get(digest)) is not None:
            return known
        now = self._clock()
        remembered = self._remembered.get(digest)
        if remembered is not None and now < remembered[0]:
            return remembered[1]
        revoked = self._revoked
        found = await self._look_up(digest)
        if len(self._remembered) >= REMEMBERED_KEYS:
            self._remembered.clear()
        if revoked == self._revoked:  # else this may be the key, read before it was revoked
            self._remembered[digest] = (now + _REMEMBERED_S, found)
        return found

    async def _look_up(self, digest: str) -> Caller | None:
        columns = (
            api_keys.c.id, api_keys.c.tenant, api_keys.c.role, api_keys.c.label, api_keys.c.group
        )  # fmt: skip
        query = select(*columns).where(api_keys.c.hash == digest, api_keys.c.revoked_at.is_(None))
        async with reading(self._db.quick, "API keys") as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            return None
        return Caller(row.tenant, row.role, label_of(row.id, row.label), row.group)


def _record(row: RowMapping) -> KeyRecord:
    return KeyRecord(
        id=row["id"],
        tenant=row["tenant"],
        role=row["role"],
        group=row["group"],
        label=row["label"],
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


def _bootstrapped(known: BootstrapKey) -> Caller:
    if len(known.key) < SHORTEST_BOOTSTRAP_KEY:
        raise ConfigurationError(
            f"an API key in the settings needs {SHORTEST_BOOTSTRAP_KEY} characters or more"
        )
    return Caller(known.tenant, known.role, known.label, known.group)


def _check_owner(tenant: str, role: str, label: str, group: str) -> None:
    check_tenant(tenant)
    if role not in get_args(Role):
        raise InvalidRequest(f"role is one of {', '.join(get_args(Role))}", param="role")
    if not GROUP.fullmatch(group):
        raise InvalidRequest(
            "a group's name has at most 40 of a-z, 0-9 and _, a letter first; none is everybody",
            param="group",
        )
    if len(label) > LONGEST_LABEL or label != storable(label):
        raise InvalidRequest(f"a label has at most {LONGEST_LABEL} characters, and no NUL", param="label")


def bearer(header: str | None) -> str | None:
    """The key in an `Authorization` header; None if there is none, or another scheme."""
    scheme, _, key = (header or "").strip().partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def _requires(role: Role) -> Callable[[Request], Awaitable[Caller]]:
    """The FastAPI dependency that lets in callers of `role` and above."""

    async def caller_of(request: Request) -> Caller:
        keys = cast("Keys", request.app.state.services.keys)
        caller = await keys.caller(bearer(request.headers.get("authorization")))
        request.state.key = caller.label  # for the log
        if not caller.may(role):
            raise NotAllowed(f"this needs a key with the role {role}; yours is {caller.role}")
        return caller

    return caller_of


ClientDep = Annotated[Caller, Depends(_requires("client"))]
ReviewerDep = Annotated[Caller, Depends(_requires("reviewer"))]
AdminDep = Annotated[Caller, Depends(_requires("admin"))]
