"""The settings of what askers say of their answers."""

from __future__ import annotations

from pydantic import Field

from gateway.setting_types import Section

__all__ = ["FeedbackSettings"]


class FeedbackSettings(Section):
    """What a thumbs down does."""

    pause_after: int = Field(3, ge=0)  # different askers who are not content pause an entry; 0: never
    window_days: float = Field(30.0, gt=0)  # in which they are counted
    keep_answers_h: float = Field(72.0, ge=0)  # answers that can still be looked into; 0 keeps none
