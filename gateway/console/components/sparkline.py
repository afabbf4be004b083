"""A trend in the space of a word: no axis, no number, only the shape."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

__all__ = ["sparkline"]

WIDTH, HEIGHT = 120, 26


def sparkline(values: Sequence[float | None]) -> None:
    """Draw values from left to right; where there is none the line breaks off."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return
    top, bottom = max(known), min(known)
    span = (top - bottom) or 1.0
    step = WIDTH / max(len(values) - 1, 1)
    drawn, pen = [], "M"
    for place, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        height = HEIGHT - 3 - (value - bottom) / span * (HEIGHT - 6)
        drawn.append(f"{pen}{place * step:.1f} {height:.1f}")
        pen = "L"
    picture = (
        f'<svg class="sparkline" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">'
        f'<path d="{" ".join(drawn)}"/></svg>'
    )
    ui.html(picture, sanitize=False)  # numbers only
