"""What was measured of the gate as one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.gate.few_shot import FewShotCurve
from evaluation.gate.judging import GateResult
from evaluation.gate.tables import worst_first
from evaluation.pages import check_drawing, write_page

__all__ = ["write_report"]


def write_report(
    file: Path, result: GateResult, *, about: str, promise: float, few_shot: FewShotCurve | None = None
) -> None:
    """Write the report.

    Args:
        about: which configuration was measured on which cases.
        promise: `gate.max_false_refusal`.

    Raises:
        InvalidRequest: if what draws is not installed, or the file can't be written.
    """
    check_drawing()
    from evaluation.gate.figures import curves_svg, few_shot_svg, slices_svg

    figures: dict[str, Any] = {
        "slices_svg": slices_svg(result),
        "curves_svg": curves_svg(result, promise=promise),
        "few_shot_svg": few_shot_svg(few_shot) if few_shot else "",
        "seeds": max(map(len, few_shot.results.values())) if few_shot else 0,
    }
    write_page(
        file,
        "gate.html",
        title="Whom the gate lets through",
        about=about,
        promise=promise,
        result=result,
        parts=worst_first(result),
        classes={gold: result.of_class(gold) for gold in ("must", "may", "must_not")},
        latency=result.as_json()["latency_ms"],
        **figures,
    )
