"""What the charts of figures look like, as options of ECharts. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.console.texts import Texts
from gateway.figures.rates import Rate
from gateway.figures.report import Faithfulness, Step

__all__ = ["FATES", "LIGHT", "RATES", "Ink", "fates", "rates", "support"]

# From what the owner hopes for to what they don't, stacked from the ground up.
FATES = ("cache_exact", "cache_vector", "accepted_offers", "rag", "refused", "escalated", "withheld")
RATES = ("cache_hits", "refused")

# As in static/console.css: ECharts measures its words with it.
FONT = "system-ui, -apple-system, Segoe UI, Noto Sans, Hiragino Sans, Noto Sans CJK JP, sans-serif"

Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours of a theme; ECharts draws on a canvas, where no variable of the style sheet reaches."""

    text: str
    line: str
    surface: str
    series: Mapping[str, str]

    @classmethod
    def of(cls, *, dark: bool) -> Ink:
        """Those of the light or the dark theme, as static/console.css has them."""
        return DARK if dark else LIGHT


LIGHT = Ink(
    "#5d6270", "#e3e3df", "#ffffff",
    {"cache_exact": "#26734d", "cache_vector": "#5fae86", "accepted_offers": "#b7dcc8", "rag": "#5b7cc4",
     "refused": "#a9adb8", "escalated": "#dfa93f", "withheld": "#c2524a", "cache_hits": "#26734d"},
)  # fmt: skip
DARK = Ink(
    "#a6abb7", "#2d313a", "#1d2026",
    {"cache_exact": "#4fa77b", "cache_vector": "#7cc7a0", "accepted_offers": "#2f5a45", "rag": "#7f9fe0",
     "refused": "#6b7180", "escalated": "#e0b869", "withheld": "#ee938b", "cache_hits": "#7cc7a0"},
)  # fmt: skip


def fates(t: Texts, ink: Ink, steps: Sequence[Step], labels: Sequence[str]) -> Options:
    """How many questions met which fate, step by step."""
    series = [
        {
            "name": t(f"figures.{name}.name"),
            "id": name,
            "type": "bar",
            "stack": "all",
            "barMaxWidth": 46,
            "itemStyle": {"color": ink.series[name]},
            "data": [step.rates[name].count for step in steps],
        }
        for name in FATES
        if any(step.rates[name].count for step in steps)
    ]
    options = _framed(ink, labels, series) | {"tooltip": _tooltip(ink, "axis", {"type": "shadow"})}
    options["grid"] |= {"top": 58}  # two lines of names
    return options


def rates(t: Texts, ink: Ink, steps: Sequence[Step], labels: Sequence[str]) -> Options:
    """Rates with their intervals, step by step: a band is drawn as its lower limit and what is above it."""
    series: list[Options] = []
    for name in RATES:
        of_step = [step.rates[name] for step in steps]
        low, wide = _bands(of_step)
        unseen = {"lineStyle": {"opacity": 0}, "tooltip": {"show": False}}
        hidden = {"type": "line", "stack": name, "symbol": "none", "silent": True, **unseen}
        series += [
            {**hidden, "data": low},
            {**hidden, "data": wide, "areaStyle": {"color": ink.series[name], "opacity": 0.16}},
            {
                "name": t(f"figures.{name}.name"),
                "id": name,
                "type": "line",
                "symbolSize": 6,
                "lineStyle": {"color": ink.series[name], "width": 2},
                "itemStyle": {"color": ink.series[name]},
                "data": [_percent(rate.value) for rate in of_step],
            },
        ]
    options = _framed(ink, labels, series)
    options["legend"]["data"] = [t(f"figures.{name}.name") for name in RATES]
    options["yAxis"] |= {"max": 100, "axisLabel": {"color": ink.text, "formatter": "{value}%"}}
    return options | {"tooltip": _tooltip(ink, "axis", {"type": "line"})}


def support(ink: Ink, faithfulness: Faithfulness) -> Options:
    """How many drafts had which share of supported statements; F = 1 stands by itself."""
    last = len(faithfulness.bins) - 1
    labels = [f"{place / last:.0%}" for place in range(last + 1)]
    data = [
        {"value": n, "itemStyle": {"color": ink.series["cache_exact" if place == last else "withheld"]}}
        for place, n in enumerate(faithfulness.bins)
    ]
    series = [{"type": "bar", "barCategoryGap": "18%", "data": data}]
    options = _framed(ink, labels, series) | {"tooltip": _tooltip(ink, "item", {})}
    options["xAxis"]["axisLabel"] |= {"interval": 4}
    options["grid"] |= {"top": 12}
    options.pop("legend")
    return options


def _framed(ink: Ink, labels: Sequence[str], series: list[Options]) -> Options:
    return {
        "animationDuration": 250,
        "textStyle": {"fontFamily": FONT, "color": ink.text},
        "grid": {"left": 8, "right": 12, "top": 40, "bottom": 4, "containLabel": True},
        "legend": {"top": 0, "left": 0, "icon": "roundRect", "itemWidth": 10, "itemHeight": 10,
                   "textStyle": {"color": ink.text}, "type": "plain"},
        "xAxis": {"type": "category", "data": list(labels), "axisTick": {"show": False},
                  "axisLine": {"lineStyle": {"color": ink.line}}, "axisLabel": {"color": ink.text}},
        "yAxis": {"type": "value", "minInterval": 1, "splitLine": {"lineStyle": {"color": ink.line}},
                  "axisLabel": {"color": ink.text}},
        "series": series,
    }  # fmt: skip


def _tooltip(ink: Ink, trigger: str, pointer: Options) -> Options:
    return {
        "trigger": trigger,
        "axisPointer": pointer,
        "confine": True,
        "backgroundColor": ink.surface,
        "borderColor": ink.line,
        "textStyle": {"color": ink.text},
    }


def _bands(of_step: Sequence[Rate]) -> tuple[list[float | None], list[float | None]]:
    limits = [rate.ci95 for rate in of_step]
    low = [_percent(one[0]) if one else None for one in limits]
    wide = [_percent(one[1] - one[0]) if one else None for one in limits]
    return low, wide


def _percent(value: float | None) -> float | None:
    return None if value is None else round(value * 100, 2)
