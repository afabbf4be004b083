"""What became of a case: the answer, every metric with its steps, or the error that stopped it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from evaluation.answers.cases import AnswerCase, AnsweredCase, Context
from gateway.domain import Tokens

__all__ = ["CaseResult", "Identity", "MetricResult", "Said", "read_result", "written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a target answered."""

    answer: str
    contexts: tuple[Context, ...]
    outcome: str
    answered: bool = True
    reason: str = ""
    entry: str | None = None
    draft: str | None = None  # what RAG wrote, where something else went out
    tokens: Tokens | None = None
    ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """What a metric found. Without a value it is undetermined, and the reason says why."""

    version: str
    value: float | None
    reason: str = ""
    steps: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A case with all that is known about it after a run."""

    digest: str  # of the case
    case: AnswerCase
    target: str  # its version
    said: Said | None  # None: the target failed
    error: str = ""
    cause: str = ""  # of the error, in the words of `UpstreamUnavailable`
    metrics: Mapping[str, MetricResult]
    judge_tokens: Tokens | None = None

    @property
    def answered_case(self) -> AnsweredCase | None:
        """What metrics measure; None where the target failed."""
        if self.said is None:
            return None
        return AnsweredCase(
            case=self.case,
            answer=self.said.answer,
            contexts=self.said.contexts,
            outcome=self.said.outcome,
            answered=self.said.answered,
            entry=self.said.entry,
        )

    @property
    def spent(self) -> int:
        """Tokens of target and judge."""
        took = [self.said.tokens if self.said else None, self.judge_tokens]
        return sum(one.read + one.written for one in took if one)

    def value(self, metric: str) -> float | None:
        """A metric's number, if there is one."""
        found = self.metrics.get(metric)
        return found.value if found else None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answers and who measures, by version: a result of the same ones needs no second run."""

    target: str
    metrics: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"target": self.target, "metrics": dict(self.metrics)}

    def made(self, result: CaseResult) -> bool:
        """Whether a second run would say the same; what failed gets another try."""
        found = {name: one.version for name, one in result.metrics.items()}
        return self.answered(result) and all(found.get(name) == v for name, v in self.metrics.items())

    def answered(self, result: CaseResult) -> bool:
        """Whether at least the answer need not be asked for again."""
        return result.target == self.target and result.said is not None


_RESULT = TypeAdapter(CaseResult)


def written(result: CaseResult) -> bytes:
    """A line of JSON."""
    return _RESULT.dump_json(result) + b"\n"


def read_result(line: bytes) -> CaseResult:
    """The result of a line.

    Raises:
        ValueError: if it is none.
    """
    return _RESULT.validate_json(line)
