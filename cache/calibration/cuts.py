"""The cut of every shelf: calibrated and stored, or the conservative default that ships."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncConnection

from cache.calibration import Cut
from storage.remembered import read_as, recall, remember, remember_first
from storage.sql import Database

__all__ = ["PAUSED", "Also", "Cuts", "nothing_else"]

Also = Callable[[AsyncConnection], Awaitable[object]]

PAUSED = 2.0  # above every score: only the exact tier serves
_FRESH_S = 10.0  # how long a replica may go on with a cut that another one has replaced


async def nothing_else(_: AsyncConnection) -> None:
    """Change nothing besides the cut."""


class Cuts:
    """Reads and keeps cuts by tenant and language.

    A cut counts only for what it was made for: the stated target error, and the model
    (`made_for`, the digest of encoder, pair model and weights) whose scores it cuts.
    """

    def __init__(self, db: Database, *, target_error: float, made_for: str) -> None:
        self._db = db
        self._target_error = target_error
        self._made_for = made_for
        self._known: dict[tuple[str, str], tuple[float, Cut | None]] = {}

    async def of(self, tenant: str, language: str) -> Cut | None:
        """The calibrated cut of a shelf; None if there is none for this target and model."""
        read_at, cut = self._known.get((tenant, language), (-_FRESH_S, None))
        if monotonic() - read_at < _FRESH_S:
            return cut
        async with self._db.quick.connect() as connection:
            cut = self._valid(await recall(connection, _name(tenant, language)))
        self._known[(tenant, language)] = (monotonic(), cut)
        return cut

    async def keep(self, tenant: str, language: str, cut: Cut) -> Cut:
        """Store the cut of a shelf in the place of its last one; a score that stays keeps its `since`."""
        async with self._db.begin() as connection:
            before = self._valid(await recall(connection, _name(tenant, language), lock=True))
            stays = before and _scores(before) == _scores(cut)
            kept = replace(cut, since=before.since if before and stays else _now())
            await remember(connection, {_name(tenant, language): self._value(kept)})
        self._known.pop((tenant, language), None)
        return kept

    async def tighten(
        self, tenant: str, language: str, *, present: Cut, score: float, why: str, also: Also = nothing_else
    ) -> bool:
        """Serve from a higher score (or `PAUSED`) until the next calibration.

        False, and nothing is changed, where `present` is no longer the cut: someone was faster.

        Args:
            also: is done in the same transaction.
        """
        tight = replace(present, score=score, bound=None, why=why, since=_now(), tightened_from=present.score)
        name, value = _name(tenant, language), self._value(tight)
        async with self._db.begin() as connection:
            stored = await recall(connection, name, lock=True)
            before = self._valid(stored)
            if (before.since if before else "") != present.since:
                return False
            if stored is not None:
                await remember(connection, {name: value})
            elif not await remember_first(connection, name, value):  # there was no row to lock
                return False
            await also(connection)
        self._known.pop((tenant, language), None)
        return True

    def _value(self, cut: Cut) -> dict[str, Any]:
        return asdict(cut) | {"made_for": self._made_for}

    def _valid(self, value: object) -> Cut | None:
        kept = read_as(_KEPT, value, otherwise=None)
        if kept is None or kept.made_for != self._made_for or kept.target_error != self._target_error:
            return None
        return Cut(**{field.name: getattr(kept, field.name) for field in fields(Cut)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept(Cut):
    made_for: str


_KEPT: TypeAdapter[_Kept | None] = TypeAdapter(_Kept)


def _scores(cut: Cut) -> tuple[float, float | None]:
    return cut.score, cut.tightened_from


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _name(tenant: str, language: str) -> str:
    return f"cache.cut.{tenant}.{language}"
