"""Where a question is, for whoever watches from outside. The trace of a request travels in its context, as
OpenTelemetry's own does, so that no stage has to hand it on. Without one nothing is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from gateway.domain import Finding, Outcome, Question, Stage

__all__ = ["Call", "Trace", "calling", "in_question", "in_stage", "traced"]


@dataclass(slots=True, kw_only=True)
class Call:
    """A call of a language model: what is asked of it, and, once it has answered, what it says of itself."""

    model: str
    base_url: str
    options: Mapping[str, Any]
    headers: dict[str, str] = field(default_factory=dict)  # to be sent along: the trace that it belongs to
    reply: Mapping[str, Any] = field(default_factory=dict)
    first_s: float | None = None  # until the first words, where they were streamed


class Trace(Protocol):
    """Shows the parts of a request; each is told what came of it. Never raises, never waits."""

    def question(self, question: Question, /) -> AbstractContextManager[Callable[[Outcome], None]]: ...

    def stage(self, stage: Stage, /) -> AbstractContextManager[Callable[[Finding], None]]: ...

    def call(self, call: Call, /) -> AbstractContextManager[None]: ...


def in_question(question: Question) -> AbstractContextManager[Callable[[Outcome], None]]:
    """The question in the trace of its request."""
    trace = _CURRENT.get()
    return trace.question(question) if trace else _UNTOLD


def in_stage(stage: Stage) -> AbstractContextManager[Callable[[Finding], None]]:
    """A stage on the way of the present question."""
    trace = _CURRENT.get()
    return trace.stage(stage) if trace else _UNTOLD


def calling(call: Call) -> AbstractContextManager[None]:
    """The call of a model in the present stage."""
    trace = _CURRENT.get()
    return trace.call(call) if trace else _NOTHING


@contextmanager
def traced(trace: Trace) -> Iterator[None]:
    """Whatever the block asks belongs to this trace."""
    before = _CURRENT.set(trace)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def _tell_nobody(_: object) -> None:
    """Nobody watches."""


_CURRENT: ContextVar[Trace | None] = ContextVar("trace", default=None)
_UNTOLD = nullcontext(_tell_nobody)
_NOTHING = nullcontext()
