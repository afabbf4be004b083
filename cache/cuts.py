"""The cut of every shelf: calibrated and stored, or the conservative default that ships."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from cache.calibration import Cut
from storage.schema import settings
from storage.sql import Database

__all__ = ["PAUSED", "Cuts"]

PAUSED = 2.0  # above every score: only the exact tier serves
_FRESH_S = 10.0  # how long a replica may go on with a cut that another one has replaced


class Cuts:
    """Reads and keeps cuts by tenant and language.

    A cut counts only for what it was made for: the stated target error, and the model
    (`made_for`, the digest of the encoder) whose scores it cuts.
    """

    def __init__(
        self, db: Database, *, target_error: float, made_for: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._db = db
        self._target_error = target_error
        self._made_for = made_for
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[float, Cut | None]] = {}

    async def of(self, tenant: str, language: str) -> Cut | None:
        """The calibrated cut of a shelf; None if there is none for this target and model."""
        read_at, cut = self._known.get((tenant, language), (-_FRESH_S, None))
        if self._clock() - read_at < _FRESH_S:
            return cut
        async with self._db.connect() as connection:
            value = await connection.scalar(_stored(tenant, language))
        cut = self._valid(value)
        self._known[(tenant, language)] = (self._clock(), cut)
        return cut

    async def keep(self, tenant: str, language: str, cut: Cut) -> Cut:
        """Store the cut of a shelf in the place of its last one; a score that stays keeps its `since`."""
        async with self._db.begin() as connection:
            before = self._valid(await connection.scalar(_stored(tenant, language)))
            stays = before and (before.score, before.tightened_from) == (cut.score, cut.tightened_from)
            kept = replace(cut, since=before.since if before and stays else _now())
            await connection.execute(delete(settings).where(settings.c.name == _name(tenant, language)))
            await connection.execute(insert(settings), self._row(tenant, language, kept))
        self._known.pop((tenant, language), None)
        return kept

    async def tighten(self, tenant: str, language: str, *, present: Cut, score: float, why: str) -> bool:
        """Serve from a higher score (or `PAUSED`) until the next calibration.

        False, and nothing is changed, where `present` is no longer the cut: someone was faster.
        """
        tight = replace(present, score=score, bound=None, why=why, since=_now(), tightened_from=present.score)
        row = self._row(tenant, language, tight)
        try:
            async with self._db.begin() as connection:
                stored = await connection.scalar(_stored(tenant, language).with_for_update())
                before = self._valid(stored)
                if (before.since if before else "") != present.since:
                    return False
                if stored is None:
                    await connection.execute(insert(settings), row)
                else:
                    changed = update(settings).where(settings.c.name == row["name"])
                    await connection.execute(changed.values(row))
        except IntegrityError:  # two replicas, and no row to lock yet
            return False
        self._known.pop((tenant, language), None)
        return True

    def _row(self, tenant: str, language: str, cut: Cut) -> dict[str, Any]:
        value = asdict(cut) | {"made_for": self._made_for}
        return {"name": _name(tenant, language), "value": value, "updated_at": datetime.now(UTC)}

    def _valid(self, value: dict[str, object] | None) -> Cut | None:
        if value is None or value.get("made_for") != self._made_for:
            return None
        cut = Cut(**{name: field for name, field in value.items() if name != "made_for"})  # type: ignore[arg-type]
        return cut if cut.target_error == self._target_error else None


def _stored(tenant: str, language: str) -> Select[Any]:
    return select(settings.c.value).where(settings.c.name == _name(tenant, language))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _name(tenant: str, language: str) -> str:
    return f"cache.cut.{tenant}.{language}"
