"""Passwords are kept as argon2id hashes with the library's present parameters."""

from __future__ import annotations

from functools import cache

from anyio import to_thread
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gateway.errors import InvalidRequest

__all__ = ["hashed", "verified"]

_SHORTEST_PASSWORD = 10  # NIST SP 800-63B asks for 8 at least, and for length rather than signs
LONGEST_PASSWORD = 500  # hashing reads all of it


async def hashed(password: str) -> str:
    """The hash to keep. Raises `InvalidRequest` for a password that is too short or too long."""
    if not _SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidRequest(
            f"a password has {_SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters", param="password"
        )
    return await to_thread.run_sync(PasswordHasher().hash, password)


async def verified(password: str, hash_: str | None) -> bool:
    """Whether the password fits; without a hash no password does, after the same time."""
    if len(password) > LONGEST_PASSWORD:
        return False
    return await to_thread.run_sync(_fits, password, hash_)


def _fits(password: str, hash_: str | None) -> bool:
    try:
        return PasswordHasher().verify(hash_ or _nobodys_hash(), password) and hash_ is not None
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobodys_hash() -> str:
    return PasswordHasher().hash("what an unknown name is checked against")
