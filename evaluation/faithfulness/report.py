"""What was measured of the faithfulness judge as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.faithfulness.judging import FaithfulnessResult
from evaluation.faithfulness.tables import parts_of, rated, worst_rows
from evaluation.faithfulness.ways import OURS, Compared
from evaluation.pages import check_drawing, write_page

__all__ = ["write_faithfulness_report"]

WORST = 30  # answers shown, where nobody asked for another number


def write_faithfulness_report(
    file: Path,
    result: FaithfulnessResult,
    compared: Compared,
    *,
    about: str,
    warnings: Sequence[str] = (),
    worst: int = WORST,
) -> None:
    """Write the report.

    Args:
        about: which judge was measured on which answers.
        warnings: what a reader must know before the figures.

    Raises:
        InvalidRequest: if what draws is not installed, or the file can't be written.
    """
    check_drawing()
    from evaluation.faithfulness.figures import colour_of, curves_svg, ranks, scores_svg

    ways = compared.figures
    write_page(
        file,
        "faithfulness.html",
        title="What leaves, though nothing supports it",
        about=about,
        warnings=warnings,
        ways=ways,
        ours=ways[OURS],
        notes=[f"{way.name}: {way.note}" for way in compared.ways if way.note],
        unchecked=result.rates()["unchecked"],
        latency=result.as_json()["latency_ms"],
        parts={name: rated(parts) for name, parts in parts_of(result).items()},
        worst=worst_rows(result, worst),
        colours={way.name: colour_of(way) for way in compared.ways if ranks(way)},
        curves_svg=curves_svg(compared),
        scores_svg=scores_svg(compared, compared.ways[0]),
    )
