"""Where a question is on its way: the steps it has taken, who reads along, and what its choices came to."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TypeVar

from classifiers.faithfulness import Checked, FaithfulnessVerdict
from classifiers.faithfulness.ruling import Delivered, Held, Ruling
from gateway.domain import Choice, Draft, Failed, Finding, Outcome, Sent, Stage, Step
from gateway.errors import UpstreamUnavailable
from gateway.streaming import Line, StreamMode
from gateway.tracing import in_stage

__all__ = ["Judged", "Reading", "Way", "choices_of", "ms_since"]

F = TypeVar("F", bound=Finding)


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads along, if anybody, and what may leave for them before the verdict."""

    line: Line | None
    mode: StreamMode

    @property
    def along(self) -> bool:
        """Whether anything may leave before the reply."""
        return self.line is not None and self.mode != "buffer"

    @property
    def seen(self) -> bool:
        """Whether somebody has read what nobody had judged."""
        return self.mode == "observe" and self.line is not None and bool(self.line.said)


class Way:
    """The steps a question has taken so far; a failed stage leaves those before it."""

    def __init__(self, reading: Reading, steps: tuple[Step, ...] = ()) -> None:
        self.reading = reading
        self.steps = steps
        self.offered = False

    async def step(self, stage: Stage, work: Awaitable[F]) -> F:
        """Take a step, and time it."""
        started = perf_counter()
        with in_stage(stage) as tell:
            try:
                found = await work
            except UpstreamUnavailable as exc:
                failed = Failed(exc.cause, str(exc))
                tell(failed)
                self.steps += (Step(stage, ms_since(started), failed),)
                raise
            tell(found)
        self.steps += (Step(stage, ms_since(started), found),)
        return found

    def choices(self, draft: Draft) -> Sequence[tuple[Draft, Way]]:
        """Each choice of the draft that was just found, on a way of its own."""
        if not draft.others:
            return [(draft, self)]
        *before, rag = self.steps
        return [(one, Way(self.reading, (*before, replace(rag, found=one)))) for one in draft.choices]

    def add_sent(self) -> None:
        """Keep what the asker has read of a draft that they do not get."""
        line = self.reading.line
        if line and line.said and self.steps[-1].stage != "sent":
            self.steps += (Step("sent", (line.first_s or 0.0) * 1000, Sent(line.said)),)


@dataclass(frozen=True, slots=True)
class Judged:
    """A choice, its verdict, what becomes of it, and its way."""

    draft: Draft
    verdict: FaithfulnessVerdict
    ruling: Ruling
    way: Way

    @property
    def badness(self) -> tuple[bool, bool, float]:
        """What was found wrong is worse than what was not checked, and that than what is delivered."""
        withheld = isinstance(self.ruling, Held) and self.ruling.outcome == "withheld"
        share = self.verdict.faithfulness if isinstance(self.verdict, Checked) else 0.0
        return withheld, isinstance(self.ruling, Held), -share


def choices_of(judged: Sequence[Judged], outcome: Outcome) -> tuple[Choice, ...]:
    """Each choice that is delivered, the canned text in the place of the others."""
    some = any(isinstance(one.ruling, Delivered) for one in judged)
    canned = Choice(outcome.text, filtered=some or outcome.name == "withheld")
    return tuple(
        Choice(one.ruling.text, filtered=False, cut_off=one.draft.cut_off)
        if isinstance(one.ruling, Delivered)
        else canned
        for one in judged
    )


def ms_since(started: float) -> float:
    """Milliseconds since a moment of `perf_counter`."""
    return (perf_counter() - started) * 1000
