"""Moments and spans of time, short, in the reader's language and time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nicegui import ui

from gateway.console.components.chip import Tone
from gateway.console.texts import Texts

__all__ = ["age", "dated", "exactly", "lateness", "moment", "when", "zone_of"]

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


def moment(at: datetime, zone: ZoneInfo) -> str:
    """A moment, to the minute, as the reader's clock showed it."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def exactly(at: datetime) -> str:
    """The same as all replicas and all exports say it."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def when(at: datetime, zone: ZoneInfo) -> ui.label:
    """A moment, and exactly when under the mouse."""
    return dated(ui.label(moment(at, zone)), at)


def dated(label: ui.label, at: datetime) -> ui.label:
    """A text that tells of a moment, and exactly when under the mouse."""
    label.props["title"] = exactly(at)
    return label


def zone_of(name: str) -> ZoneInfo:
    """The zone that a browser names; UTC where it names none that is known."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
