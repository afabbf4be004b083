"""The settings of models that others run or made: any language model, and the gate's further judges."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from gateway.settings.types import Name, Section, Text, Url

__all__ = ["DetectorSettings", "GateLlmSettings", "LlmSettings", "PriceSettings"]


class PriceSettings(Section):
    """What a million tokens cost."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    currency: Text = "USD"


class LlmSettings(Section):
    """Any OpenAI-compatible model."""

    base_url: Url
    model: str
    api_key: SecretStr | None = None
    timeout_s: float = Field(20.0, gt=0)


class GateLlmSettings(LlmSettings):
    """The model that is asked where the gate is unsure."""

    timeout_s: float = Field(5.0, gt=0)  # an asker is waiting; too slow is unsure


class DetectorSettings(Section):
    """A further judge of what is forbidden: it may forbid, it can't allow, and if it fails nobody passes."""

    kind: Literal["huggingface", "huggingface-guard", "openai-moderation", "llm"]
    name: Name
    model: str = Field(min_length=1)  # a model's name or folder, or what the endpoint calls it
    base_url: Url | None = None
    api_key: SecretStr | None = None
    labels: dict[str, Name] = {}  # which of the model's labels are forbidden, and as which topic
    threshold: float | None = Field(None, gt=0, le=1)  # of a label; openai-moderation has its own
    timeout_s: float = Field(5.0, gt=0)  # too slow is unsure
    shadow: bool = False  # asked, counted and recorded, not enforced

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind == "huggingface" and not self.labels:
            raise ValueError(
                "kind: huggingface needs labels: which of the model's are forbidden, as which topic"
            )
        if self.kind == "llm" and not self.base_url:
            raise ValueError("kind: llm needs base_url")
        if self.kind in ("huggingface-guard", "llm") and (self.labels or self.threshold):
            raise ValueError(f"kind: {self.kind} has neither labels nor threshold")
        if self.kind.startswith("huggingface") and (self.base_url or self.api_key):
            raise ValueError(f"kind: {self.kind} runs here: it has neither base_url nor api_key")
        return self
