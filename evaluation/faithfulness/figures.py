"""The faithfulness judge's figures as SVG: curves beside simpler ways, and scores. Extra `report`."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from evaluation.drawing import INK, OURS, drawn, svg_of
from evaluation.faithfulness.ways import OURS as SEKISHO
from evaluation.faithfulness.ways import Compared, Way

__all__ = ["colour_of", "curves_svg", "ranks", "scores_svg"]

_BAD = "#a23b5a"
_COLOURS = {SEKISHO: OURS, "words alone": "#3b6fb6", "cosine": "#c2703d"}  # the others by this
_OTHER = "#8a6bb0"
_BINS = 20


def curves_svg(compared: Compared) -> str:
    """ROC beside precision and recall, a line for each way that ranks; the dot is where it cuts."""
    ranking = [way for way in compared.ways if ranks(way)]
    if not ranking or not all(compared.scores(ranking[0])):
        return ""
    with drawn():
        figure = Figure(figsize=(9, 4.1), layout="constrained")
        roc, pr = figure.subplots(1, 2)
        for way in reversed(ranking):
            _curves(roc, pr, compared, way)
        roc.plot((0, 1), (0, 1), color=INK, linewidth=0.8, alpha=0.4, linestyle=(0, (2, 3)))
        bad = sum(not case.faithful for case in compared.cases) / len(compared.cases)
        pr.axhline(bad, color=INK, linewidth=0.8, alpha=0.4, linestyle=(0, (2, 3)))
        for axes, x, y in (
            (roc, "faithful answers kept back", "unfaithful answers found"),
            (pr, "unfaithful answers found", "of those kept back, unfaithful"),
        ):
            axes.set(xlabel=x, ylabel=y, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            axes.xaxis.set_major_formatter(PercentFormatter(1.0))
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        return svg_of(figure)


def ranks(way: Way) -> bool:
    """Whether it says more of an answer than yes or no to all."""
    return len(set(way.suspicion) - {None}) > 1


def colour_of(way: Way) -> str:
    """Of its lines."""
    return _COLOURS.get(way.name, _OTHER)


def _curves(roc: Axes, pr: Axes, compared: Compared, way: Way) -> None:
    bad, good = map(np.asarray, compared.scores(way))
    cuts = np.unique(np.concatenate([bad, good]))[::-1]
    found, blocked = _share_from(bad, cuts), _share_from(good, cuts)
    precision = found * len(bad) / (found * len(bad) + blocked * len(good))
    ours = way.name == SEKISHO
    look: dict[str, Any] = {"color": colour_of(way), "linewidth": 2.2 if ours else 1.3}
    roc.plot([0, *blocked], [0, *found], **look)
    pr.plot(found, precision, **look)
    flagged = np.array(way.flagged)
    are = np.array([not case.faithful for case in compared.cases])
    if not flagged.any():
        return
    recall, false = (flagged & are).sum() / are.sum(), (flagged & ~are).sum() / (~are).sum()
    dot: dict[str, Any] = {"color": look["color"], "markersize": 8 if ours else 6, "markeredgecolor": "white"}
    roc.plot(false, recall, "o", **dot)
    pr.plot(recall, (flagged & are).sum() / flagged.sum(), "o", **dot)


def _share_from(scores: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the scores at or above each cut."""
    return 1 - np.searchsorted(np.sort(scores), cuts, side="left") / len(scores)


def scores_svg(compared: Compared, way: Way) -> str:
    """Answers by the score of their worst statement, unfaithful ones beside faithful ones."""
    bad, good = (1 - np.asarray(scores) for scores in compared.scores(way))
    with drawn():
        figure = Figure(figsize=(9, 2.8), layout="constrained")
        axes = figure.subplots()
        edges = np.linspace(0, 1, _BINS + 1)
        axes.hist([bad, good], bins=edges.tolist(), color=[_BAD, OURS], rwidth=0.85)
        axes.grid(visible=False, axis="x")
        axes.set(xlabel="probability of support of the worst statement", ylabel="answers", xlim=(0, 1))
        return svg_of(figure)
