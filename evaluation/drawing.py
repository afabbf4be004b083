"""How the figures of reports are drawn: SVG in the colours of its page. Extra `report`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["INK", "OURS", "drawn", "leave_empty", "svg_of"]

# Stand-ins, replaced in the SVG by colours of the page, so that it can be light or dark.
INK, _FAINT = "#010203", "#040506"
OURS = "#0b7a75"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: any language, by the fonts of the reader
    "svg.hashsalt": "sekisho",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.edgecolor": _FAINT,
}


def drawn() -> AbstractContextManager[None]:
    """Figures made within look like the others."""
    return mpl.rc_context(_STYLE)


def leave_empty(panels: Sequence[Axes], used: int, columns: int) -> None:
    """Hide the panels that are left over, and say the scale below the last one of each column."""
    for axes in panels[used:]:
        axes.set_axis_off()
    for axes in panels[max(used - columns, 0) : used]:
        axes.tick_params(labelbottom=True)


def svg_of(figure: Figure) -> str:
    """To be put into a page."""
    written = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # the reader's fonts draw it, not ours
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = written.getvalue()
    text = text[text.index("<svg") :]  # inside a page there is no prologue
    return text.replace(INK, "currentColor").replace(_FAINT, "var(--faint)")
