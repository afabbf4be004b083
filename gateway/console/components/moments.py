"""Moments and spans of time, short and in the reader's language."""

from __future__ import annotations

from datetime import datetime, timedelta

from gateway.console.components.chip import Tone
from gateway.console.texts import Texts

__all__ = ["age", "lateness", "moment"]

SOON = 0.75  # of the promised time


def age(t: Texts, span: timedelta) -> str:
    """How long ago, in the largest unit that fits."""
    minutes = max(0, int(span.total_seconds() // 60))
    if minutes < 60:
        return t("moments.minutes", n=minutes)
    if minutes < 48 * 60:
        return t("moments.hours", n=minutes // 60)
    return t("moments.days", n=minutes // (24 * 60))


def lateness(span: timedelta, promise: timedelta) -> Tone:
    """How a wait stands to what was promised."""
    if span > promise:
        return "bad"
    return "warn" if span > promise * SOON else "quiet"


def moment(at: datetime) -> str:
    """A moment, to the minute; UTC, as all replicas and all exports say it."""
    return f"{at:%Y-%m-%d %H:%M} UTC"
