"""A gate that learns without a restart: what admins accepted, and that it has other documents and entries.

The old one serves until the new one stands.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

import structlog

from classifiers import ClassifierError
from classifiers.gate import ClassPolicy, GateVerdict, Policy, Topic
from classifiers.text import normalise, only_words
from encoders import Encoded, EncoderError
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.gatekeeping.canaries import Canaries, CanaryReport
from gateway.review.gate_examples import GateExample, GateExamples
from gateway.stages import Gate
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["LearningGate", "Lesson", "LessonState", "taught"]

CATCH_UP_S = 3.0  # what another replica's admin accepted is learnt this soon
LOOK_S = 60.0  # between looks at documents and entries; a fit for each that an import brings were too many
TRY_AGAIN_S = 60.0  # after a fit that broke; one that a canary stopped waits for another decision
MOST_LEFT_OUT = 8  # newest examples that a start leaves out to find a gate that passes its canaries

OTHERS = ""  # in a tenant's place: all who taught their gate nothing; theirs is fitted for BASE
BASE = "default"

Fit = Callable[[Policy, str], Awaitable[Gate]]  # a policy, for a tenant
Sources = Callable[[str], Awaitable[str]]  # the state of a tenant's documents and entries, for a fit
LessonState = Literal["learnt", "failed", "stopped_by_canary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """How the last try to teach the gate of a tenant went."""

    state: LessonState
    decision: int  # up to which the examples were read
    examples: int  # accepted ones that the serving gate knows
    reason: str = ""
    sources: str = ""  # the state of documents and entries
    tried_at: float = 0.0  # seconds of the monotonic clock


class LearningGate:
    """One gate for all tenants, and another for each tenant whose admin accepted examples.

    An example is one tenant's own: no other tenant's gate knows its words.

    Args:
        base: the gate of all who taught it nothing, fitted for "default" over `sources` in the state `over`.
    """

    def __init__(
        self,
        base: Gate,
        policy: Policy,
        *,
        fit: Fit,
        sources: Sources,
        over: str,
        examples: GateExamples,
        canaries: Canaries,
        on_try: Callable[[LessonState], object] = lambda _: None,
    ) -> None:
        self._policy = policy
        self._fit = fit
        self._sources = sources
        self._examples = examples
        self._canaries = canaries
        self._on_try = on_try
        self._gates: dict[str, Gate] = {OTHERS: base}
        self._lessons = {OTHERS: Lesson(state="learnt", decision=0, sources=over, examples=0)}
        self._seen: dict[str, str] = {}  # the sources of each tenant when they were looked at last
        self._looked_at = monotonic()
        self._one_at_a_time: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._wake = asyncio.Event()
        self._log = structlog.get_logger("sekisho.gate")

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        """What the tenant's gate says."""
        return await self._of(tenant).judge(question, tenant=tenant, group=group)

    @property
    def lessons(self) -> Mapping[str, Lesson]:
        """How the last try went, by tenant, and of the gate of the others."""
        return dict(self._lessons)

    @property
    def tenants(self) -> tuple[str, ...]:
        """Whose gates differ from the policy's."""
        return tuple(tenant for tenant in self._gates if tenant != OTHERS)

    def _of(self, tenant: str) -> Gate:
        return self._gates.get(tenant, self._gates[OTHERS])

    def wake(self) -> None:
        """Look for decisions now."""
        self._wake.set()

    async def run(self) -> None:
        """Learn what is accepted, here or on another replica, for as long as the gateway runs."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), CATCH_UP_S)
            self._wake.clear()
            try:
                await self.catch_up()
            except (StoreUnavailable, DatabaseUnavailable) as exc:
                self._log.warning("nothing to learn could be read", error=type(exc).__name__)

    async def catch_up(self) -> None:
        """Teach every gate that is behind.

        Raises:
            StoreUnavailable, DatabaseUnavailable: if examples, or the state of the sources, can't be read.
        """
        decisions = {OTHERS: 0} | await self._examples.decisions()
        if monotonic() - self._looked_at >= LOOK_S:
            self._seen = {tenant: await self._sources(tenant or BASE) for tenant in decisions}
            self._looked_at = monotonic()
        for tenant, decision in decisions.items():
            async with self._one_at_a_time[tenant]:
                if self._is_behind(tenant, decision):
                    await self._teach(tenant, decision)

    def _is_behind(self, tenant: str, decision: int) -> bool:
        known = self._lessons.get(tenant)
        if known is None or known.decision != decision:
            return True
        if known.sources != self._seen.get(tenant, known.sources):
            return True
        return known.state == "failed" and monotonic() - known.tried_at >= TRY_AGAIN_S

    async def _teach(self, tenant: str, decision: int) -> None:
        before = self._lessons.get(tenant)
        examples = await self._examples.accepted(tenant) if tenant != OTHERS else []
        whose = tenant or BASE
        sources = self._seen[tenant] = await self._sources(whose)
        try:
            known = await self._canaries.ask(self._of(tenant), whose)
            found = await self._fitted(whose, examples, known, first=before is None)
        except (
            ConfigurationError,
            ClassifierError,
            EncoderError,
            IndexUnavailable,
            DatabaseUnavailable,
            ValueError,
        ) as exc:
            self._log.warning("gate not fitted", tenant=whose, error=type(exc).__name__)
            kept = before.examples if before else 0
            lesson = Lesson(state="failed", decision=decision, examples=kept, reason=str(exc))
        else:
            lesson = self._taken(tenant, found, decision, before)
        self._lessons[tenant] = replace(lesson, sources=sources, tried_at=monotonic())
        self._on_try(lesson.state)
        self._canaries.wake()
        say = self._log.info if lesson.state == "learnt" else self._log.error
        say("gate taught", tenant=whose, state=lesson.state, examples=lesson.examples, accepted=len(examples))

    def _taken(self, tenant: str, found: _Fitted, decision: int, before: Lesson | None) -> Lesson:
        if found.gate is not None:
            self._gates[tenant] = found.gate
        if not found.broken:
            return Lesson(state="learnt", decision=decision, examples=found.examples)
        known = found.examples if found.gate is not None else before.examples if before else 0
        reason = f"must-questions that passed would be kept back: {'; '.join(found.broken)}"
        return Lesson(state="stopped_by_canary", decision=decision, examples=known, reason=reason)

    async def _fitted(
        self, tenant: str, examples: Sequence[GateExample], known: CanaryReport, *, first: bool
    ) -> _Fitted:
        """A gate with these examples that passes what the old one passed.

        A start has no old gate with some of the examples: it leaves out the newest until the canaries pass.
        """
        gate = await self._fit(taught(self._policy, examples), tenant)
        broken = known.lost_by(await self._canaries.ask(gate, tenant))
        if not broken:
            return _Fitted(gate, len(examples), ())
        for left_out in range(1, min(MOST_LEFT_OUT, len(examples) - 1) + 1 if first else 1):
            fewer = examples[:-left_out]
            gate = await self._fit(taught(self._policy, fewer), tenant)
            if not known.lost_by(await self._canaries.ask(gate, tenant)):
                return _Fitted(gate, len(fewer), broken)
        return _Fitted(None, 0, broken)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A gate that may serve, if there is one, and the canaries that all the examples together would lose."""

    gate: Gate | None
    examples: int
    broken: tuple[str, ...]


def taught(policy: Policy, examples: Sequence[GateExample]) -> Policy:
    """The policy with what was accepted; words that an admin put into another class leave the policy's."""
    by_class: dict[tuple[str, str], list[str]] = {}
    for example in examples:
        by_class.setdefault((example.label, example.topic), []).append(example.text)
    claimed = {_words(example.text): example.label for example in examples}

    def learnt(written: ClassPolicy, label: str) -> ClassPolicy:
        kept = [text for text in written.examples if claimed.get(_words(text), label) == label]
        return replace(written, examples=_joined(kept, by_class.get((label, ""), ())))

    known = {topic.name for topic in policy.topics}
    new = [Topic(name) for _, name in by_class if name and name not in known]
    return replace(
        policy,
        must=learnt(policy.must, "must"),
        may=learnt(policy.may, "may"),
        must_not=replace(
            policy.must_not,
            examples=_joined(policy.must_not.examples, by_class.get(("must_not", ""), ())),
        ),
        topics=tuple(
            replace(topic, examples=_joined(topic.examples, by_class.get(("must_not", topic.name), ())))
            for topic in (*policy.topics, *new)
        ),
    )


def _joined(written: Sequence[str], learnt: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*written, *learnt]))


def _words(text: str) -> str:
    return only_words(normalise(text))
