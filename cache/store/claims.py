"""Each active entry claims its phrasings: no two of one shelf answer the very same question.

What entries in other states say is known as well, so that a sheet that comes in again brings back nothing
that was withdrawn, and no draft twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Self

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.entries import Entry
from cache.errors import DuplicatePhrasing
from cache.reading.text import exact_key, normalise
from storage.parts import in_parts
from storage.schema import entries, entry_phrasings

__all__ = ["KEYS_AT_ONCE", "Claims", "could_meet", "refuse_duplicates"]

KEYS_AT_ONCE = 5_000  # SQLite takes 32,766 parameters a statement


@dataclass(frozen=True, slots=True)
class _Claim:
    """Who claims a phrasing, for whom, and from when to when."""

    entry: str
    language: str
    group: str
    valid_from: date | None
    valid_until: date | None

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """What an entry claims, or would if it were active."""
        return cls(entry.id, entry.language, entry.group, entry.valid_from, entry.valid_until)


class Claims:
    """Who claims some phrasings of a tenant, among what is there and what comes in."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, _Claim]] = {}  # by normalised phrasing and entry
        self._of: dict[str, set[str]] = {}  # the normalised phrasings of each entry
        self._unserved: dict[str, set[str]] = {}  # by normalised phrasing: who says it without a claim

    @classmethod
    async def read(cls, connection: AsyncConnection, tenant: str, phrasings: Iterable[str]) -> Self:
        """The claims on these phrasings, and who says them without a claim; others are unknown to it."""
        claims = cls()
        keys = sorted({exact_key(normalise(phrasing)) for phrasing in phrasings})
        found = select(
            entry_phrasings.c.normalised,
            entries.c.state,
            entries.c.id,
            entries.c.language,
            entries.c.group,
            entries.c.valid_from,
            entries.c.valid_until,
        ).join(entries, entries.c.id == entry_phrasings.c.entry_id)
        for some in in_parts(keys, KEYS_AT_ONCE):
            claimed = found.where(
                entry_phrasings.c.tenant == tenant,
                entry_phrasings.c.exact_key.in_(some),
            )
            for normalised, state, *claim in await connection.execute(claimed):
                if state == "active":
                    claims._hold(normalised, _Claim(*claim))
                else:
                    claims._unserved.setdefault(normalised, set()).add(claim[0])
        return claims

    def holders(self, phrasings: Iterable[str]) -> set[str]:
        """The entries that claim one of them."""
        return {entry for text in phrasings for entry in self._held.get(normalise(text), {})}

    def unserved(self, phrasings: Iterable[str]) -> set[str]:
        """The drafts, paused, stale and retired entries that say one of them."""
        return {entry for text in phrasings for entry in self._unserved.get(normalise(text), ())}

    def take(self, entry: Entry) -> None:
        """Let an entry claim its phrasings if it is active, and nothing else.

        Raises:
            DuplicatePhrasing: naming the phrasing and the other entry; all claims are as before then.
        """
        claim = _Claim.of(entry)
        wanted = {normalise(text): text for text in entry.phrasings} if entry.state == "active" else {}
        for normalised, phrasing in wanted.items():
            for other in self._held.get(normalised, {}).values():
                if _compete(claim, other):
                    raise DuplicatePhrasing(phrasing, other=other.entry)
        for normalised in self._of.pop(entry.id, ()):
            del self._held[normalised][entry.id]
        for normalised in wanted:
            self._hold(normalised, claim)
        for phrasing in entry.phrasings if entry.state != "active" else ():
            self._unserved.setdefault(normalise(phrasing), set()).add(entry.id)

    def _hold(self, normalised: str, claim: _Claim) -> None:
        self._held.setdefault(normalised, {})[claim.entry] = claim
        self._of.setdefault(claim.entry, set()).add(normalised)


async def refuse_duplicates(connection: AsyncConnection, entry: Entry) -> None:
    """Refuse an active entry that says what another one says, on one shelf, at one time, to one asker.

    Raises:
        DuplicatePhrasing: naming the phrasing and the other entry.
    """
    (await Claims.read(connection, entry.tenant, entry.phrasings)).take(entry)


def could_meet(some: Entry, other: Entry) -> bool:
    """Whether somebody could be answered by either of them on one day."""
    return _compete(_Claim.of(some), _Claim.of(other))


def _compete(some: _Claim, other: _Claim) -> bool:
    """Whether either could answer somebody on one day: last year's price and this year's never meet."""
    one_shelf = some.entry != other.entry and some.language == other.language
    seen_together = not some.group or other.group in ("", some.group)
    starts_in_time = not (some.valid_from and other.valid_until) or some.valid_from <= other.valid_until
    ends_in_time = not (some.valid_until and other.valid_from) or other.valid_from <= some.valid_until
    return one_shelf and seen_together and starts_in_time and ends_in_time
