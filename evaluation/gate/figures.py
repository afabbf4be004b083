"""The gate's figures as SVG: slices, refusal against leak, growth by examples. Extra `report`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from evaluation.drawing import INK, OURS, drawn, leave_empty, svg_of
from evaluation.gate.few_shot import FewShotCurve
from evaluation.gate.judging import GateResult, JudgedQuestion
from evaluation.gate.tables import worst_first

__all__ = ["curves_svg", "few_shot_svg", "slices_svg"]

_WORDS = "#c2703d"
_PAGE = 9.6  # inches
_BY_CLASS = {"must": "#3b6fb6", "may": OURS, "must_not": "#a23b5a"}
_REFUSALS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def slices_svg(result: GateResult) -> str:
    """A line for each slice, the worst first: wrong decisions with their interval, and the baseline's."""
    parts = worst_first(result)
    with drawn():
        figure = Figure(figsize=(9, 0.9 + 0.42 * len(parts)), layout="constrained")
        axes = figure.subplots()
        for row, (_, part) in enumerate(parts):
            value, interval = part.wrong.value, part.wrong.ci95
            if value is None or interval is None:
                continue
            colour = _BY_CLASS[part.gold]
            axes.plot(interval, (row, row), color=colour, linewidth=6, alpha=0.35, solid_capstyle="round")
            axes.plot(value, row, "o", color=colour, markersize=8, clip_on=False)
            if part.words_reach_rag and part.words_reach_rag.value is not None:
                through = part.words_reach_rag.value
                beside = 1 - through if part.gold == "must" else through
                axes.plot(beside, row, "D", color=_WORDS, markersize=6, fillstyle="none", clip_on=False)
            axes.text(1.04, row, f"{value:.1%}", va="center")
        axes.set_yticks(range(len(parts)), [f"{name}  ({part.n})" for name, part in parts])
        axes.set_ylim(len(parts) - 0.4, -0.6)
        axes.set_xlim(-0.01, 1.0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel("decided wrongly: refused, of must; let through to RAG, of the others")
        return svg_of(figure)


def curves_svg(result: GateResult, *, promise: float) -> str:
    """A panel for each slice: what leaks at each share of refused must-questions; the dot is the gate.

    The upright line is the promise on refused must-questions.
    """
    names = [name for name, part in worst_first(result) if part.gold != "must" and not part.seen]
    if not names or not result.must:
        return ""
    columns = min(3, len(names))  # a page wide, however many: letters are of one size in all pictures
    rows = math.ceil(len(names) / columns)
    by_slice = result.by_slice()
    with drawn():
        figure = Figure(figsize=(_PAGE, 2.7 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, name in zip(panels, names, strict=False):
            axes.axvline(promise, color=INK, linewidth=0.8, alpha=0.5)
            _curve(axes, name, result, by_slice[name])
        leave_empty(list(panels), len(names), columns)
        figure.supxlabel("must-questions refused", fontsize=10)
        figure.supylabel("let through to RAG", fontsize=10)
        return svg_of(figure)


def _curve(axes: Axes, name: str, result: GateResult, others: Sequence[JudgedQuestion]) -> None:
    must = result.must
    ours = _leak([one.verdict.score for one in must], [one.verdict.score for one in others])
    axes.step(*ours, where="post", color=OURS, linewidth=2)
    words = [one.words for one in must if one.words is not None]
    if words:
        beside = _leak(words, [one.words for one in others if one.words is not None])
        axes.step(*beside, where="post", color=_WORDS, linewidth=1.3, linestyle=(0, (4, 2)))
    refused = result.false_refusals.value or 0.0
    through = sum(one.let_through for one in others) / len(others)
    place = (max(refused, _REFUSALS[0]), through)
    axes.plot(*place, "o", color=OURS, markersize=8, markeredgecolor="white", clip_on=False, zorder=5)
    axes.set_xscale("log")
    axes.set_xlim(_REFUSALS[0], _REFUSALS[-1])
    axes.xaxis.set_major_locator(FixedLocator(_REFUSALS[::2]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:.1%}".replace(".0%", "%")))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylim(-0.02, 1.02)
    axes.set_title(name)


def _leak(must: Sequence[float], others: Sequence[float]) -> tuple[list[float], list[float]]:
    """What passes of the others at each cut, by the share of must-questions below that cut."""
    cuts = np.unique(must)
    refused = np.searchsorted(np.sort(must), cuts, side="left") / len(must)
    ranked = np.sort(others)
    through = 1 - np.searchsorted(ranked, cuts, side="left") / len(ranked)
    return [_REFUSALS[0] / 2, *refused[1:].tolist()], through.tolist()


def few_shot_svg(curve: FewShotCurve) -> str:
    """AUROC of every slice by number of examples, as a line through medians in the range over seeds."""
    ours, words = curve.auroc(), curve.auroc(words=True)
    if not ours:
        return ""
    columns = min(3, len(ours))
    rows = math.ceil(len(ours) / columns)
    sizes = list(curve.results)
    with drawn():
        figure = Figure(figsize=(_PAGE, 2.5 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (name, points) in zip(panels, ours.items(), strict=False):
            for found, colour, line in ((points, OURS, "-"), (words.get(name, {}), _WORDS, (0, (4, 2)))):
                places = [sizes.index(size) for size in found]
                spreads = list(found.values())
                axes.plot(
                    places, [one.median for one in spreads], color=colour, linestyle=line, marker="o", ms=4
                )
                low, high = [one.low for one in spreads], [one.high for one in spreads]
                axes.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)
            axes.set_title(name)
            axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        leave_empty(list(panels), len(ours), columns)
        figure.supxlabel("examples a class", fontsize=10)
        figure.supylabel("AUROC against must", fontsize=10)
        return svg_of(figure)
