"""A dry run: a question walks the way that a real one would, and leaves no trace.

The stages are those that serve: the same gate, shelf, chatbot and judge, so a try costs what an answer costs.
What keeps things is left out: no ticket is opened, and neither outcomes nor lookups nor accepted offers are
recorded. The shelf is only read, as always. What sees a try all the same is the memory of recent vectors, and
whoever counts the calls of a judge or a chatbot elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from classifiers import ClassifierError
from classifiers.gate import GateVerdict
from encoders import Encoder, encode_one
from gateway.configuration.loading import with_policy
from gateway.domain import Conversation, FrontEndTask, Outcome, Question, Reply, Step
from gateway.pipeline import Pipeline
from gateway.settings import Settings
from gateway.stages import Gate

__all__ = ["Compared", "DryRun", "NoTickets", "Unwatched"]

_NO_TICKET = "T-00000000"  # in the place of a ticket's number; none has it, as none is drawn of noughts alone

Fit = Callable[[Settings, str], Awaitable[Gate]]  # for a tenant


class NoTickets:
    """Keeps no question for a person."""

    async def open(
        self,
        question: Question,
        *,
        outcome: Literal["withheld", "escalated", "answered"],
        reason: str,
        steps: tuple[Step, ...],
    ) -> str:
        """No ticket's number."""
        return _NO_TICKET


class Unwatched:
    """Counts, logs and records nothing."""

    def outcome(self, outcome: Outcome, /, *, ms: float) -> None:
        """Nothing."""

    def front_end_task(self, task: FrontEndTask, /) -> None:
        """Nothing."""

    def failure(self, question: Question, exc: Exception, /) -> None:
        """Nothing: the outcome says that a stage broke."""

    def hung_up(self, question: Question, /) -> None:
        """Nothing."""

    def held_for_contexts(self, question: Question, /) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A question before two gates; None where one could not judge it."""

    question: str
    now: GateVerdict | None
    other: GateVerdict | None

    @property
    def differs(self) -> bool:
        """Whether it would meet another fate at the gate."""
        now, other = self.now, self.other
        return (now and (now.label, now.topic)) != (other and (other.label, other.topic))


class DryRun:
    """Walks questions without a trace, and lets another policy judge them."""

    def __init__(
        self, settings: Settings, pipeline: Pipeline, gate: Gate, encoder: Encoder, *, fit: Fit
    ) -> None:
        """`pipeline` has `NoTickets` and is `Unwatched`; `fit` makes the gate of other settings."""
        self._settings = settings
        self._pipeline = pipeline
        self._gate = gate
        self._encoder = encoder
        self._fit = fit

    async def answer(self, conversation: Conversation) -> Reply:
        """What an asker would get, with every step."""
        return await self._pipeline.answer(conversation)

    async def other_gate(self, policy: str, tenant: str) -> Gate:
        """The gate of another policy, as the section of a configuration file says it.

        Raises:
            ConfigurationError: naming every problem with its line.
            ClassifierError, EncoderError: if it can't be fitted.
        """
        return await self._fit(with_policy(self._settings, policy), tenant)

    async def compare(self, questions: Sequence[str], other: Gate, *, tenant: str) -> tuple[Compared, ...]:
        """Each question, judged by the gate that serves and by another one."""
        found = []
        for question in questions:
            now = await self._judged(self._gate, question, tenant)
            found.append(Compared(question, now, await self._judged(other, question, tenant)))
        return tuple(found)

    async def _judged(self, gate: Gate, question: str, tenant: str) -> GateVerdict | None:
        try:
            return await gate.judge(await encode_one(self._encoder, question), tenant=tenant)
        except ClassifierError:  # no verdict is not a pass: it is shown as none
            return None
