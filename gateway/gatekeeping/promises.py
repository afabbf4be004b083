"""The calibrated cuts of the gate, kept in SQL: made for one policy, encoder, judge and promise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any
from weakref import WeakKeyDictionary

import structlog
from pydantic import TypeAdapter

from classifiers.gate import Policy
from classifiers.gate.promise import CutsInForce, GateCuts, Promise
from encoders import EncoderIdentity
from gateway.background import every
from storage.remembered import Basis, read_as, recall_all, remember
from storage.sql import Database, DatabaseUnavailable

__all__ = ["GatePromises", "MadeFor", "Standing"]

FRESH_S = 10.0  # how long a replica may go on with cuts that others have replaced
_PREFIX = "gate.promise."


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor(Basis):
    """What cuts belong to: scores by anything else mean something else."""

    policy: str  # digest of all its texts
    encoder: str
    judge: str
    max_false_refusal: float

    @classmethod
    def of(cls, policy: Policy, encoder: EncoderIdentity, judge: str, *, max_false_refusal: float) -> MadeFor:
        """Of a gate fitted on this policy."""
        texts = json.dumps(asdict(policy), sort_keys=True)
        return cls(
            policy=hashlib.sha256(texts.encode()).hexdigest(),
            encoder=encoder.digest,
            judge=judge,
            max_false_refusal=max_false_refusal,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A fitted gate, as far as promises go."""

    tenant: str  # whose gate; "default" for all that learnt nothing of their own
    made_for: MadeFor
    fitted: GateCuts


@dataclass(frozen=True, slots=True)
class _Kept:
    made_for: Mapping[str, Any]
    cuts: GateCuts | None


_KEPT = TypeAdapter(_Kept)
_UNREADABLE = _Kept(made_for={}, cuts=None)  # made for nothing that there is


class GatePromises:
    """Keeps the promises of `sekisho calibrate gate`, and brings them into force in every replica."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._held = False
        self._standing: WeakKeyDictionary[CutsInForce, Standing] = WeakKeyDictionary()  # while a gate lives
        self._dropped: dict[str, tuple[str, ...]] = {}

    async def stand_for(self, cuts: CutsInForce, standing: Standing) -> None:
        """A gate that cuts there was fitted; what was made for another one is dropped, with a warning."""
        self._standing[cuts] = standing
        await self.refresh()

    def of(self, tenant: str) -> tuple[CutsInForce, Standing] | None:
        """The gate fitted last for a tenant, else the one for all; None where there is no gate."""
        last = {standing.tenant: (cuts, standing) for cuts, standing in self._standing.items()}
        return last.get(tenant) or last.get("default")

    def dropped(self, tenant: str) -> tuple[str, ...]:
        """What changed since the cuts that are kept were found."""
        return self._dropped.get(tenant, ())

    async def refresh(self) -> None:
        """Read what is kept; cuts that were made for something else are not used."""
        kept = await self.kept()
        if self._held:
            return
        for cuts, standing in list(self._standing.items()):
            value = kept.get(standing.tenant) or kept.get("default")
            found = read_as(_KEPT, value, otherwise=_UNREADABLE) if value else None
            changed = standing.made_for.changed_since(found.made_for) if found else ()
            cuts.present = found.cuts if found and not changed else None
            self._tell(standing.tenant, changed)

    async def keep(self, standing: Standing, promise: Promise) -> None:
        """Store a promise in place of the last one, and let it decide."""
        value = asdict(promise) | {"made_for": asdict(standing.made_for)}
        await self.keep_as_it_is({standing.tenant: value})
        await self.refresh()

    async def kept(self) -> dict[str, dict[str, Any]]:
        """What is stored, by tenant, whatever it was made for."""
        async with self._db.connect() as connection:
            kept = await recall_all(connection, _PREFIX)
        return {name.removeprefix(_PREFIX): value for name, value in kept.items()}

    async def keep_as_it_is(self, kept: Mapping[str, dict[str, Any]]) -> None:
        """Store what was kept, here or in another database."""
        async with self._db.begin() as connection:
            await remember(connection, {_PREFIX + tenant: value for tenant, value in kept.items()})

    @contextmanager
    def held_at(self, held: GateCuts) -> Iterator[None]:
        """Every gate cuts there for as long as it takes, whatever is kept."""
        before = [(cuts, cuts.present) for cuts in self._standing]
        self._held = True
        for cuts, _ in before:
            cuts.present = held
        try:
            yield
        finally:
            self._held = False
            for cuts, present in before:
                cuts.present = present

    async def run(self) -> None:
        """Follow what others keep, for as long as the gateway runs."""
        await every(
            FRESH_S, self.refresh, first=False, expected=(DatabaseUnavailable,),
            event="the gate's cuts were not read", log="sekisho.gate",
        )  # fmt: skip

    def _tell(self, tenant: str, changed: tuple[str, ...]) -> None:
        if changed and changed != self._dropped.get(tenant):
            structlog.get_logger("sekisho.gate").warning(
                "calibrated cuts dropped: run `sekisho calibrate gate` again",
                tenant=tenant,
                changed=", ".join(changed),
            )
        self._dropped[tenant] = changed
