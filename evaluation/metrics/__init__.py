"""What is measured of an answer: one number with its steps, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from evaluation.answers.cases import AnsweredCase

__all__ = ["Encodes", "Measured", "Metric", "Score", "Undetermined"]


@dataclass(frozen=True, slots=True)
class Score:
    """A number from 0 to 1, more is better, and how it came about: JSON values, for reading."""

    value: float
    steps: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 1:  # NaN neither
            raise ValueError(f"a score lies between 0 and 1, found {self.value}: say Undetermined")


@dataclass(frozen=True, slots=True)
class Undetermined:
    """No number: the judge gave no verdict, or the case lacks what is measured."""

    reason: str
    steps: Mapping[str, Any] = field(default_factory=dict)


Measured = Score | Undetermined


class Metric(Protocol):
    """Measures one answer. What it can't measure is `Undetermined`; it raises nothing for that."""

    @property
    def name(self) -> str:
        """As `--metrics` and reports call it."""
        ...

    @property
    def version(self) -> str:
        """Another one whenever the same answer could get another number: judge, model, prompt, rule."""
        ...

    async def measure(self, case: AnsweredCase, /) -> Measured: ...


@runtime_checkable
class Encodes(Protocol):
    """A metric of vectors that says beforehand of which texts: those of many cases are encoded together."""

    def texts(self, case: AnsweredCase, /) -> Sequence[str]:
        """What it will encode for this case; nothing where it can't be measured."""
        ...
