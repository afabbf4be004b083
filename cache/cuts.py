"""The cut of every shelf: calibrated and stored, or the conservative default that ships."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select

from cache.calibration import Cut
from storage.schema import settings
from storage.sql import Database

__all__ = ["Cuts"]

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
            value = await connection.scalar(
                select(settings.c.value).where(settings.c.name == _name(tenant, language))
            )
        cut = self._valid(value)
        self._known[(tenant, language)] = (self._clock(), cut)
        return cut

    async def keep(self, tenant: str, language: str, cut: Cut) -> None:
        """Store the cut of a shelf in the place of its last one."""
        name = _name(tenant, language)
        row = {
            "name": name,
            "value": asdict(cut) | {"made_for": self._made_for},
            "updated_at": datetime.now(UTC),
        }
        async with self._db.begin() as connection:
            await connection.execute(delete(settings).where(settings.c.name == name))
            await connection.execute(insert(settings), row)
        self._known.pop((tenant, language), None)

    def _valid(self, value: dict[str, object] | None) -> Cut | None:
        if value is None or value.get("made_for") != self._made_for:
            return None
        cut = Cut(**{name: field for name, field in value.items() if name != "made_for"})  # type: ignore[arg-type]
        return cut if cut.target_error == self._target_error else None


def _name(tenant: str, language: str) -> str:
    return f"cache.cut.{tenant}.{language}"
