"""Dialogues as the sheet that an operator would fill in: a column a turn, red where it failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import PatternFill
from openpyxl.utils import get_column_letter

from evaluation.users.dialogues import Dialogue, DialogueTurn
from evaluation.users.judging import CRITERIA, MARKED_BELOW
from evaluation.workbooks import across, head_cells, row_height, save, value_cell
from gateway.exports import sheet_cell

__all__ = ["write_sheet"]

RED = PatternFill("solid", fgColor="F4B8C1")
GREY = PatternFill("solid", fgColor="E8E6E1")  # no verdict
_WIDTHS = {"case": 16, "persona": 12, "lang": 6, "wants": 32, "ground truth": 36, "mean": 8, "ended": 14}
_TURN_WIDTH = 52


def write_sheet(file: Path, dialogues: Iterable[Dialogue], *, most_turns: int) -> None:
    """Write the workbook, a row at a time.

    Raises:
        InvalidRequest: if it can't be written.
    """
    turns = [f"turn {number}" for number in range(1, most_turns + 1)]
    columns = ["case", "persona", "lang", "wants", "ground truth", *turns, "mean", "ended"]
    workbook = Workbook(write_only=True)
    sheet, scores = workbook.create_sheet("dialogues"), workbook.create_sheet("scores")
    for place, name in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(place)].width = _WIDTHS.get(name, _TURN_WIDTH)
    sheet.freeze_panes = "C2"
    across(sheet)
    across(scores)
    sheet.append(head_cells(sheet, columns))
    _scores_head(scores)
    widths = [_WIDTHS.get(name, _TURN_WIDTH) for name in columns]
    for number, dialogue in enumerate(dialogues, 2):
        row = list(_row(sheet, dialogue, most_turns))
        texts = zip((str(cell.value or "") if cell else "" for cell in row), widths, strict=True)
        sheet.row_dimensions[number].height = row_height(texts)
        sheet.append(row)
        for row in _score_rows(dialogue):
            scores.append([sheet_cell(scores, value) for value in row])
    save(workbook, file)


def _turn_text(turn: DialogueTurn) -> str:
    """What an operator reads in a cell: both sides, the value, and why it is not better."""
    value = turn.verdict.value
    head = "no verdict" if value is None else f"{value:.2f}"
    worst = sorted(turn.verdict.criteria.items(), key=lambda item: item[1].score)
    why = [f"{name} {one.score}: {one.comment}" for name, one in worst if one.score < 4]
    told = why or ([turn.verdict.reason] if turn.verdict.reason else [])
    return "\n".join([f"[{head}, {turn.said.outcome}]", f"▶ {turn.message}", f"◀ {turn.said.answer}", *told])


def _row(sheet: Any, one: Dialogue, most_turns: int) -> Iterator[Any]:
    for text in (one.case.id, one.persona, one.case.lang, one.case.question, one.case.ground_truth):
        yield value_cell(sheet, text)
    for number in range(most_turns):
        if number >= len(one.turns):
            yield None
            continue
        turn = one.turns[number]
        cell = value_cell(sheet, _turn_text(turn))
        if turn.verdict.value is None:
            cell.fill = GREY
        elif turn.verdict.value < MARKED_BELOW:
            cell.fill = RED
        yield cell
    mean = value_cell(sheet, None if one.value is None else round(one.value, 3))
    if one.value is not None and one.value < MARKED_BELOW:
        mean.fill = RED
    yield mean
    yield value_cell(sheet, one.error or ("the person" if one.done else "turns used up"))


def _score_rows(one: Dialogue) -> Iterator[list[Any]]:
    for number, turn in enumerate(one.turns, 1):
        found = turn.verdict.criteria
        scores = [found[name].score if name in found else None for name in CRITERIA]
        comments = [found[name].comment if name in found else "" for name in CRITERIA]
        yield [one.case.id, one.persona, number, turn.verdict.value, *scores, *comments]


def _scores_head(sheet: Any) -> None:
    names = ["case", "persona", "turn", "value", *CRITERIA, *(f"{name}: why" for name in CRITERIA)]
    for place, name in enumerate(names, 1):
        sheet.column_dimensions[get_column_letter(place)].width = 40 if name.endswith("why") else 14
    sheet.freeze_panes = "A2"
    sheet.append(head_cells(sheet, names))
