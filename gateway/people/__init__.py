"""People who sign in to the console: their roles by tenant, their sessions, and how signing in is guarded."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.people.attempts import Attempts
from gateway.people.oidc import Oidc
from gateway.people.passwords import verified
from gateway.people.sessions import Sessions, console_secret
from gateway.people.users import Membership, Person, PersonRole, UserRecord, Users
from gateway.settings import Settings
from storage.sql import Database

__all__ = [
    "Attempts",
    "Membership",
    "People",
    "Person",
    "PersonRole",
    "Sessions",
    "UserRecord",
    "Users",
    "open_people",
]


@dataclass(frozen=True, slots=True)
class People:
    """Everything the console asks about who may do what."""

    users: Users
    sessions: Sessions
    attempts: Attempts
    oidc: Oidc | None = None  # the identity provider, where there is one

    async def sign_in(self, name: str, password: str, *, address: str) -> str | None:
        """A new session's cookie; None if name and password don't fit.

        An unknown name takes as long as a wrong password, and is counted the same.

        Raises:
            TooManyAttempts: if this name or address failed too often lately.
        """
        await self.attempts.begin(name, address)
        user = await self.users.find(name)
        fits = await verified(password, user.password if user else None)
        if user is None or not fits or user.disabled_at is not None or not user.memberships:
            return None
        await self.attempts.succeeded(name)
        return await self.sessions.open(user.id, user.memberships[0].tenant)


async def open_people(settings: Settings, database: Database) -> People:
    """The people of a gateway; all its replicas sign with the same secret."""
    console = settings.console
    secret = console.secret.get_secret_value() if console.secret else await console_secret(database)
    sessions = Sessions(database, secret=secret, hours=console.session_hours)
    oidc = Oidc(console.oidc) if console.oidc else None
    return People(Users(database, reserved=settings.auth.names), sessions, Attempts(database), oidc)
