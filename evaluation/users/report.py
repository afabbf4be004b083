"""Dialogues as one HTML file: figures by persona, then the worst, turn by turn."""

from __future__ import annotations

import heapq
from pathlib import Path

from evaluation.answers.journal import Lines
from evaluation.pages import write_page
from evaluation.users.dialogues import Dialogue
from evaluation.users.figures import Figures
from evaluation.users.judging import CRITERIA, MARKED_BELOW

__all__ = ["write_report"]

WORST = 40  # dialogues that can be opened in the page


def write_report(
    file: Path,
    dialogues: Lines[Dialogue],
    figures: tuple[Figures, dict[str, Figures], dict[str, Figures]],
    *,
    title: str,
    versions: str,
    note: str = "",
) -> None:
    """Write the report.

    Raises:
        InvalidRequest: if the file can't be written.
    """
    whole, personas, languages = figures
    worst = heapq.nsmallest(WORST, dialogues, key=_badness)
    by_language = sorted(languages.items()) if len(languages) > 1 else []
    write_page(
        file,
        "dialogues.html",
        title=title,
        about=f"{whole.n:,} dialogues. A model plays the person who asks, and judges what was answered.",
        note=note,
        whole=whole,
        rows=[*sorted(personas.items()), *by_language],
        criteria=CRITERIA,
        below=MARKED_BELOW,
        outcomes=sorted(whole.outcomes.items(), key=lambda item: -item[1]),
        worst=worst,
        shown=len(worst),
        versions=versions,
    )


def _badness(one: Dialogue) -> tuple[int, float]:
    """What failed, then the lowest mean; what nobody could judge comes last."""
    return int(not one.error), 2.0 if one.value is None else one.value
