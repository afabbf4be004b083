"""Must-canaries: questions that must always pass. One that does not tells before an asker has to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from classifiers import ClassifierError
from classifiers.gate import GateLabel
from encoders import Encoder, EncoderError, encode_one
from gateway.stages import Gate

__all__ = ["Canaries", "CanaryReport", "LostCanary"]


@dataclass(frozen=True, slots=True)
class LostCanary:
    """A canary that did not pass; no label if it could not be judged."""

    question: str
    label: GateLabel | None
    reason: str


@dataclass(frozen=True, slots=True)
class CanaryReport:
    """One round over all canaries."""

    tenant: str
    at: datetime
    asked: int
    lost: tuple[LostCanary, ...]

    def lost_by(self, later: CanaryReport) -> tuple[str, ...]:
        """The canaries that passed here and don't there."""
        already = {one.question for one in self.lost}
        return tuple(one.question for one in later.lost if one.question not in already)


class Canaries:
    """Asks a gate the questions that must pass, and keeps what came of it."""

    def __init__(self, questions: Sequence[str], encoder: Encoder, *, every_s: float) -> None:
        self._questions = tuple(dict.fromkeys(questions))
        self._encoder = encoder
        self._every_s = every_s
        self._reports: dict[str, CanaryReport] = {}
        self._wake = asyncio.Event()

    @property
    def reports(self) -> Mapping[str, CanaryReport]:
        """The last round of each tenant whose gate differs, and of "default"."""
        return dict(self._reports)

    async def ask(self, gate: Gate, tenant: str) -> CanaryReport:
        """One round, not kept: for a gate that may not come to serve."""
        lost = [await self._lost(gate, tenant, question) for question in self._questions]
        found = tuple(one for one in lost if one is not None)
        return CanaryReport(tenant, datetime.now(UTC), len(self._questions), found)

    async def check(self, gate: Gate, tenants: Iterable[str]) -> None:
        """One round with the gate that serves, for each tenant; whoever does not pass is told to the log."""
        for tenant in tenants:
            report = self._reports[tenant] = await self.ask(gate, tenant)
            for one in report.lost:
                structlog.get_logger("sekisho.gate").error(
                    "canary lost",
                    tenant=tenant,
                    canary=self._questions.index(one.question) + 1,
                    label=one.label or "none",
                )

    def wake(self) -> None:
        """Go round now: the gate has changed."""
        self._wake.set()

    async def run(self, gate: Gate, tenants: Callable[[], Iterable[str]]) -> None:
        """Rounds on a schedule, for as long as the gateway runs."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._every_s)
            self._wake.clear()
            await self.check(gate, tenants())

    async def _lost(self, gate: Gate, tenant: str, question: str) -> LostCanary | None:
        try:
            verdict = await gate.judge(await encode_one(self._encoder, question), tenant=tenant)
        except (ClassifierError, EncoderError) as exc:  # no verdict is not a pass
            return LostCanary(question, None, f"it could not be judged: {exc}")
        return None if verdict.label == "must" else LostCanary(question, verdict.label, verdict.reason)
