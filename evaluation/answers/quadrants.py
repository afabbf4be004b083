"""Found or written? Retrieval against writing, case by case, as counts and as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from evaluation.answers.summary import Summary, mean_interval

__all__ = ["Quadrant", "quadrant_of"]

STEPS = 20
WRITTEN = ("answer_correctness", "answer_correctness_llm", "semantic_similarity")


@dataclass(frozen=True, slots=True)
class Quadrant:
    """Both scores of every case that has them."""

    retrieved: str
    written: str
    cut: float  # from which score on an answer is right
    points: Sequence[tuple[float, float]]

    @property
    def _with_all(self) -> list[float]:
        """How right the answers are where everything was found."""
        return [right for found, right in self.points if found >= 1]

    @property
    def found(self) -> int:
        return len(self._with_all)

    @property
    def right(self) -> int:
        return sum(score >= self.cut for score in self._with_all)

    @property
    def writing(self) -> int:
        return self.found - self.right

    @property
    def lucky(self) -> int:
        return sum(found < 1 and right >= self.cut for found, right in self.points)

    @property
    def retrieval(self) -> int:
        return len(self.points) - self.found - self.lucky

    @property
    def mean(self) -> float | None:
        return float(np.mean(self._with_all)) if self._with_all else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        return mean_interval(self._with_all)

    @property
    def svg(self) -> str:
        """Circles for the cases, larger for more of them; the line is the cut."""
        counts = Counter((round(x * STEPS), round(y * STEPS)) for x, y in self.points)
        most = max(counts.values(), default=1)
        circles = "".join(
            f'<circle cx="{_x(x / STEPS):.1f}" cy="{_y(y / STEPS):.1f}" r="{2.2 + 10 * sqrt(n / most):.1f}" '
            f'fill="var(--{_colour(x / STEPS, y / STEPS, self.cut)})" fill-opacity=".5">'
            f"<title>{n}</title></circle>"
            for (x, y), n in sorted(counts.items())
        )
        labels = "".join(
            f'<text x="{_x(at):.0f}" y="252" text-anchor="middle">{at:g}</text>'
            f'<text x="38" y="{_y(at) + 4:.0f}" text-anchor="end">{at:g}</text>'
            for at in (0, 0.5, 1)
        )
        return (
            '<svg viewBox="0 0 420 275" role="img" aria-label="retrieval against writing">'
            f'<rect x="{_x(0):.0f}" y="{_y(1):.0f}" width="340" height="215" fill="var(--wash)" rx="6"/>'
            f'<line x1="{_x(0):.0f}" x2="{_x(1):.0f}" y1="{_y(self.cut):.1f}" y2="{_y(self.cut):.1f}" '
            'stroke="var(--quiet)" stroke-dasharray="4 4"/>'
            f"{circles}{labels}"
            f'<text x="{_x(0.5):.0f}" y="270" text-anchor="middle">{self.retrieved.replace("_", " ")}</text>'
            f'<text x="12" y="{_y(0.5):.0f}" text-anchor="middle" '
            f'transform="rotate(-90 12 {_y(0.5):.0f})">{self.written.replace("_", " ")}</text></svg>'
        )


def quadrant_of(summary: Summary) -> Quadrant | None:
    """Retrieval against writing, if the run measured both."""
    retrieved = next((name for name in summary.metrics if name.startswith("context_recall")), None)
    written = next((name for name in WRITTEN if name in summary.metrics), None)
    if retrieved is None or written is None:
        return None
    points = summary.quadrant(retrieved, written)
    return Quadrant(retrieved, written, summary.good_is.at_least, points) if points else None


def _x(share: float) -> float:
    return 55 + 340 * share


def _y(share: float) -> float:
    return 230 - 215 * share


def _colour(found: float, right: float, cut: float) -> str:
    if right >= cut:
        return "good" if found >= 1 else "unsure"
    return "bad"
