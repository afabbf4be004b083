"""The settings of the check between RAG and the asker: who judges, and what becomes of what they say."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from gateway.settings.models import LlmSettings, PriceSettings
from gateway.settings.types import Section

__all__ = ["CascadeSettings", "FaithfulnessLlmSettings", "FaithfulnessSettings"]

_JUDGE_S = 10.0
_LLM_S = 30.0  # two calls, one after the other


class FaithfulnessLlmSettings(LlmSettings):
    """The model that reads the statements out of an answer, and gives their verdicts."""

    statements: Literal["llm", "local"] = "llm"  # local: sentences are the statements, and one call is enough
    longest_contexts: int = Field(24_000, ge=500)  # characters in one call; more are asked about in windows
    most_tokens: int = Field(4_000, ge=100)  # of one reply; a reply that is cut off there is no verdict
    price: PriceSettings | None = None  # without it, what the check costs is counted in tokens only


class CascadeSettings(Section):
    """From which probabilities of support on the local judge is sure; what lies between goes to the model."""

    supported_from: float = Field(0.9, ge=0, le=1)
    unsupported_below: float = Field(0.1, ge=0, le=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.unsupported_below > self.supported_from:
            raise ValueError("unsupported_below must not be above supported_from")
        return self


class FaithfulnessSettings(Section):
    """Checking RAG's answers before anybody reads them."""

    judge: Literal["local", "llm", "cross-encoder", "cascade", "off"] = "local"
    llm: FaithfulnessLlmSettings | None = None  # judge: llm, cascade
    model: str | None = Field(None, min_length=1)  # judge: cross-encoder; a Hugging Face model or a folder
    supported_label: str | None = None  # which of its labels means supported, where its name does not tell
    cascade: CascadeSettings = CascadeSettings()
    cut: float | None = Field(None, ge=0, le=1)  # supported from this probability on; None: the judge's own
    max_false_block: float = Field(0.05, gt=0, lt=0.5)  # what `sekisho calibrate faithfulness` promises
    block: Literal["any", "mean", "nothing"] = "any"  # an unsupported statement; F below `mean`; only marks
    mean: float = Field(0.8, ge=0, le=1)
    repair: Literal["none", "drop"] = "none"  # drop: cut unsupported statements out if the rest still answers
    on_unchecked: Literal["escalate", "withhold", "deliver"] = "escalate"
    streaming: Literal["buffer", "sentence", "observe"] = "buffer"  # observe protects nobody
    timeout_s: float | None = Field(None, gt=0)  # None: 10 s, 30 s where a language model judges

    @property
    def patience_s(self) -> float:
        """How long an asker waits for a verdict."""
        if self.timeout_s is not None:
            return self.timeout_s
        return _LLM_S if self.judge in ("llm", "cascade") else _JUDGE_S

    @model_validator(mode="after")
    def _judge_has_what_it_needs(self) -> Self:
        if self.judge in ("llm", "cascade") and self.llm is None:
            raise ValueError(f"judge: {self.judge} needs llm: base_url and model")
        if self.judge == "cross-encoder" and self.model is None:
            raise ValueError("judge: cross-encoder needs model, a Hugging Face model or a folder")
        if self.cut is not None and self.judge not in ("local", "cross-encoder"):
            raise ValueError(f"judge: {self.judge} has no cut")
        return self
