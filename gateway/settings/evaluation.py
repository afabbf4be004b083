"""Who judges answers offline (`sekisho evaluate answers`). Nothing that serves reads it."""

from __future__ import annotations

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
