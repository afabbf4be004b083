"""The calibrated cuts of the faithfulness judge, kept in SQL: made for one judge, weights and promise."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import structlog
from pydantic import TypeAdapter

from classifiers import faithfulness
from classifiers.faithfulness.promise import CutPromise, CutsInForce
from encoders import EncoderIdentity
from encoders.shipped import SUPPORT
from gateway.background import every
from gateway.settings import FaithfulnessSettings
from storage.remembered import Basis, read_as, recall, remember
from storage.sql import Database, DatabaseUnavailable

__all__ = ["PROMISE", "FaithfulnessPromises", "MadeFor", "can_be_cut", "judged_by"]

FRESH_S = 10.0  # how long a replica may go on with cuts that others have replaced
PROMISE = "faithfulness.promise"  # the name of the setting
_MOST_DIGESTS = 20_000  # of the answers that calibrated


def can_be_cut(settings: FaithfulnessSettings) -> bool:
    """Whether the judge has scores of its own to cut, and nobody has fixed where."""
    return settings.judge in ("local", "cross-encoder") and settings.cut is None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor(Basis):
    """What cuts belong to: scores by anything else mean something else."""

    judge: str
    model: str | None
    weights: str  # digest of the code and weights of our own judges
    encoder: str
    block: str
    mean: float
    max_false_block: float

    @classmethod
    def of(cls, chosen: FaithfulnessSettings, encoder: EncoderIdentity) -> Self:
        """Of a configured judge."""
        return cls(
            judge=chosen.judge,
            model=chosen.model,
            weights=_weights(),
            encoder=encoder.digest,
            block=chosen.block,
            mean=chosen.mean,
            max_false_block=chosen.max_false_block,
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    made_for: Mapping[str, Any]
    promises: Mapping[str, CutPromise]  # by language
    answers: Sequence[str]  # digests of those the cuts were found on


_KEPT = TypeAdapter(_Kept)
_NOTHING = _Kept(made_for={}, promises={}, answers=())  # made for nothing that there is


class FaithfulnessPromises:
    """Keeps the cuts of `sekisho calibrate faithfulness`, and brings them into force in every replica."""

    def __init__(self, db: Database, made_for: MadeFor) -> None:
        self._db = db
        self._made_for = made_for
        self._dropped: tuple[str, ...] = ()
        self.cuts = CutsInForce()

    async def refresh(self) -> None:
        """Read what is kept; cuts that were made for something else are not used."""
        kept = await self._kept()
        changed = self._made_for.changed_since(kept.made_for) if kept else ()
        usable = kept.promises if kept and not changed else {}
        self.cuts.present = {language: promise.cut for language, promise in usable.items()}
        if changed and changed != self._dropped:
            structlog.get_logger("sekisho.faithfulness").warning(
                "calibrated cuts dropped: run `sekisho calibrate faithfulness` again",
                changed=", ".join(changed),
            )
        self._dropped = changed

    async def keep(self, promises: Mapping[str, CutPromise], answers: Sequence[str]) -> None:
        """Store promises by language, with the digests of the answers they were found on.

        A language without a new one keeps the one it has, if that was made for the same judge.
        """
        before = await self._usable()
        kept = _Kept(
            made_for=asdict(self._made_for),
            promises={**before.promises, **promises},
            answers=[*dict.fromkeys([*answers, *before.answers])][:_MOST_DIGESTS],
        )
        async with self._db.begin() as connection:
            await remember(connection, {PROMISE: asdict(kept)})
        await self.refresh()

    async def calibrated_on(self) -> frozenset[str]:
        """The digests of the answers that the cuts in force were found on."""
        return frozenset((await self._usable()).answers)

    async def run(self) -> None:
        """Follow what others keep, for as long as the gateway runs."""
        await every(
            FRESH_S, self.refresh, first=False, expected=(DatabaseUnavailable,),
            event="the judge's cuts were not read", log="sekisho.faithfulness",
        )  # fmt: skip

    async def _usable(self) -> _Kept:
        """What is kept and was made for this judge."""
        kept = await self._kept()
        return kept if kept and not self._made_for.changed_since(kept.made_for) else _NOTHING

    async def _kept(self) -> _Kept | None:
        async with self._db.connect() as connection:
            value = await recall(connection, PROMISE)
        return None if value is None else read_as(_KEPT, value, otherwise=_NOTHING)


@lru_cache(maxsize=1)
def _weights() -> str:
    found = hashlib.sha256()
    for file in judged_by():
        found.update(file.read_bytes())
    return found.hexdigest()[:32]


def judged_by() -> list[Path]:
    """The code, weights and tables of our own judges, and the card of the model that they read with."""
    folder = Path(faithfulness.__file__).parent
    own = sorted(file for file in folder.rglob("*") if file.suffix in (".py", ".json", ".yaml", ".gz"))
    return [*own, SUPPORT / "identity.json"]
