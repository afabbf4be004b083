"""What askers wrote, sealed at rest under the operator's key: AES-SIV (RFC 5297), from `cryptography`.

Under one key a text is always sealed alike, so equality still finds it: `storage.schema.base.holds` asks for
every way in which it may be stored. Who reads the files learns which texts are the same, and nothing else of
them. What was written before stays readable.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

__all__ = ["MARK", "NotOpened", "Seal", "SealError"]

# Nobody types the control character in front, so no question is taken for a sealed one.
MARK: Final = "\x1asealed:"
KEY_BYTES: Final = 64  # AES-SIV with AES-256
_NAMED: Final = 8  # characters of a key's fingerprint


class SealError(ValueError):
    """A key can't be used."""


class NotOpened(Exception):  # noqa: N818 - errors are named as facts
    """A sealed text whose key is not here, or which was changed."""


class Seal:
    """Seals with one key, or leaves texts open without it; opens what this or a former key sealed."""

    def __init__(self, key: bytes | None, *, former: Sequence[bytes] = ()) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV

        self._ciphers = {_name(one): AESSIV(one) for one in (*former, *filter(None, [key]))}
        self._name = _name(key) if key else None

    @classmethod
    def of(cls, key: str | None, former: Sequence[str] = ()) -> Self | None:
        """The seal of keys as they are configured; None without any.

        Raises:
            SealError: saying which one can't be used and what is expected.
        """
        if key is None and not former:
            return None
        if find_spec("cryptography") is None:
            raise SealError(
                "storage.encryption_key needs the package cryptography: pip install 'sekisho[encryption]'"
            )
        read = [_read(one, f"storage.former_encryption_keys[{n}]") for n, one in enumerate(former)]
        return cls(None if key is None else _read(key, "storage.encryption_key"), former=read)

    @property
    def key(self) -> str | None:
        """The name of the key that seals: the beginning of its sha256."""
        return self._name

    @property
    def keys(self) -> frozenset[str]:
        """The names of all keys that open."""
        return frozenset(self._ciphers)

    def seal(self, text: str) -> str:
        """The text as it is stored; an empty one says nothing and stays empty."""
        if self._name is None or not text:
            return text
        return _sealed(text, self._name, self._ciphers[self._name])

    def forms(self, text: str) -> tuple[str, ...]:
        """All ways in which the text may be stored: sealed under any key that is here, or open."""
        return (text, *(_sealed(text, name, cipher) for name, cipher in self._ciphers.items() if text))

    def open(self, stored: str) -> str:
        """The text again; one that was never sealed is itself.

        Raises:
            NotOpened: if its key is not here, or if it was changed.
        """
        if not stored.startswith(MARK):
            return stored
        from cryptography.exceptions import InvalidTag

        name, _, sealed = stored[len(MARK) :].partition(":")
        if name not in self._ciphers:
            raise NotOpened(f"a text was sealed with the key {name}, which is not configured")
        try:
            return self._ciphers[name].decrypt(urlsafe_b64decode(sealed), [name.encode()]).decode()
        except (InvalidTag, NotBase64) as exc:
            raise NotOpened(f"a text that was sealed with the key {name} has been changed") from exc


def _sealed(text: str, name: str, cipher: AESSIV) -> str:
    sealed = cipher.encrypt(text.encode(), [name.encode()])
    return f"{MARK}{name}:{urlsafe_b64encode(sealed).decode()}"


def _name(key: bytes) -> str:
    return sha256(b"sekisho" + key).hexdigest()[:_NAMED]


def _read(key: str, field: str) -> bytes:
    try:
        read = bytes.fromhex(key.strip())
    except ValueError:
        read = b""
    if len(read) != KEY_BYTES:
        raise SealError(
            f"{field}: expected {2 * KEY_BYTES} hexadecimal digits, as from `openssl rand -hex {KEY_BYTES}`"
        )
    return read
