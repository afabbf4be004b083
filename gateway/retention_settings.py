"""The settings of how long is kept what askers wrote."""

from __future__ import annotations

from pydantic import Field

from gateway.setting_types import Section

__all__ = ["RetentionSettings"]


class RetentionSettings(Section):
    """After how many days something is deleted; without a number it is kept."""

    outcomes_days: float | None = Field(None, gt=0)  # the hourly counts behind the figures stay
    tickets_days: float | None = Field(None, gt=0)  # closed ones, after their last change; suggestions, too
    feedback_days: float | None = Field(None, gt=0)
    audits_days: float | None = Field(None, gt=0)  # their texts; verdicts stay, the error bound needs them
