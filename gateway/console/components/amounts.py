"""Shares and times, short and in the reader's language."""

from __future__ import annotations

from gateway.console.texts import Texts
from gateway.figures.rates import Rate

__all__ = ["bounds", "milliseconds", "seconds", "share"]


def share(value: float | None) -> str:
    """A share in per cent, with as many digits as tell something."""
    if value is None:
        return "–"
    return f"{value:.2%}" if 0 < value < 0.01 else f"{value:.1%}"


def bounds(t: Texts, rate: Rate) -> str:
    """The interval of a rate; the empty text where there is none."""
    if rate.ci95 is None:
        return ""
    low, high = rate.ci95
    return t("dashboard.interval", low=share(low).rstrip("%"), high=share(high))


def milliseconds(t: Texts, ms: float | None) -> str:
    """A time on the way of a question."""
    if ms is None:
        return "–"
    return t("dashboard.milliseconds", n=f"{ms:.3g}") if ms < 1000 else seconds(t, ms / 1000)


def seconds(t: Texts, span: float | None) -> str:
    """A span of time in the largest unit that fits."""
    if span is None:
        return "–"
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if span >= 2 * length:
            return t(f"dashboard.{unit}", n=f"{span / length:.3g}")
    return t("dashboard.seconds", n=f"{span:.2g}")
