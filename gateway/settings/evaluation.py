"""Who judges answers offline (`sekisho evaluate answers`). Nothing that serves reads it."""

from __future__ import annotations

from pydantic import Field

from gateway.settings.models import LlmSettings, PriceSettings
from gateway.settings.types import Section

__all__ = ["EvaluationLlmSettings", "EvaluationSettings"]


class EvaluationLlmSettings(LlmSettings):
    """The model that judges."""

    timeout_s: float = 60.0
    price: PriceSettings | None = None  # for the cost line


class EvaluationSettings(Section):
    """Judging answers offline."""

    llm: EvaluationLlmSettings | None = None  # without it, judges are local
    # Of answer correctness: above 1 what an answer lacks weighs more, below 1 what is wrong in it.
    beta: float = Field(1.0, gt=0, le=10)
