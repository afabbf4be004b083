"""Takes what waits in the outbox to its receivers, for as long as the gateway runs: a courier for each.

What waits for a receiver that has no courier, as it was renamed or removed, becomes a dead letter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Literal, Protocol

import structlog

from gateway.background import every
from gateway.delivery.outbox import NOBODY, Delivery, Outbox
from gateway.recording.failures import log_failure
from storage.sql import DatabaseUnavailable

__all__ = ["Courier", "DeliveryResult", "NotDelivered", "Sender", "Undeliverable", "Watch"]

INTERVAL_S = 1.0
UNDELIVERABLE_S = 60.0
AT_ONCE = 20
TIMEOUT_S = 30.0

DeliveryResult = Literal["sent", "failed", "dead"]


class NotDelivered(Exception):  # noqa: N818 - errors are named as facts
    """An attempt failed; the message is for the operator and holds no secret."""

    def __init__(self, reason: str, *, final: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.final = final  # no further attempt can succeed
        self.retry_after_s = retry_after_s


class Sender(Protocol):
    """Takes one delivery to one receiver. Raises `NotDelivered` if it did not arrive for certain."""

    async def send(self, delivery: Delivery, /) -> None: ...


class Watch(Protocol):
    """Is told what became of every attempt."""

    def __call__(self, target: str, result: DeliveryResult, /) -> None: ...


class Courier:
    """Delivers what is due to one receiver, so that a slow one holds up nobody else."""

    def __init__(
        self,
        outbox: Outbox,
        target: str,
        sender: Sender,
        *,
        watch: Watch = lambda target, result: None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`timeout_s` must be shorter than the outbox's claims: no attempt outlives its claim."""
        self.target = target
        self._outbox = outbox
        self._sender = sender
        self._watch = watch
        self._timeout_s = timeout_s
        self._log = structlog.get_logger("sekisho.delivery")

    async def run(self) -> None:
        """Deliver until cancelled."""
        outage = (DatabaseUnavailable,)
        await every(
            INTERVAL_S, self._deliver_all, expected=outage, event="deliveries wait", log="sekisho.delivery"
        )

    async def _deliver_all(self) -> None:
        while await self.deliver_due():
            pass

    async def deliver_due(self) -> int:
        """Make one attempt for each of some deliveries that are due; says how many."""
        claimed = await self._outbox.claim(self.target, limit=AT_ONCE)
        made = await asyncio.gather(*(self._attempt(one) for one in claimed), return_exceptions=True)
        for one, broke in zip(claimed, made, strict=True):
            match broke:
                case None:
                    await self._outbox.sent(one)
                    self._watch(one.target, "sent")
                case NotDelivered():
                    await self._failed(one, broke)
                case Exception():  # a mistake of ours must stop neither the others nor the next attempt
                    log_failure(self._log, "delivery broke", broke, target=one.target)
                    await self._failed(one, NotDelivered(f"broke: {type(broke).__name__}"))
                case _:
                    raise broke
        return len(claimed)

    async def _attempt(self, delivery: Delivery) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._sender.send(delivery)
        except TimeoutError as exc:
            raise NotDelivered(f"no answer within {self._timeout_s:g} s") from exc

    async def _failed(self, delivery: Delivery, why: NotDelivered) -> None:
        dead = await self._outbox.failed(delivery, str(why), final=why.final, retry_after_s=why.retry_after_s)
        self._watch(delivery.target, "dead" if dead else "failed")
        tell = self._log.error if dead else self._log.warning
        tell(
            "dead letter" if dead else "not delivered",
            delivery=delivery.id,
            target=delivery.target,
            attempts=delivery.attempts,
            error=str(why),
        )


class Undeliverable:
    """What waits for receivers without a courier; nobody would ever take it."""

    def __init__(self, outbox: Outbox, targets: Collection[str]) -> None:
        self._outbox = outbox
        self._targets = frozenset(targets)
        self._log = structlog.get_logger("sekisho.delivery")

    async def run(self) -> None:
        """Look at the start and from time to time, until cancelled."""
        outage = (DatabaseUnavailable,)
        await every(
            UNDELIVERABLE_S, self.end, expected=outage, event="deliveries wait", log="sekisho.delivery"
        )

    async def end(self) -> None:
        """Make dead letters of it, so that people see it."""
        for target, count in (await self._outbox.end_undeliverable(self._targets)).items():
            self._log.error("dead letters", target=target, count=count, error=NOBODY)
