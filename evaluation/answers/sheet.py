"""A run as XLSX: a row a case, to be filtered and sorted, and the figures on a sheet of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, PatternFill
from openpyxl.utils import get_column_letter

from evaluation.answers.results import CaseResult
from evaluation.answers.summary import Summary
from evaluation.workbooks import WRAPPED, across, head_cells, row_height, save, value_cell
from gateway.exports import sheet_cell

__all__ = ["write_sheet"]

_FILLS = {
    True: PatternFill("solid", fgColor="E3F1EE"),
    False: PatternFill("solid", fgColor="F8D7DD"),
    None: PatternFill("solid", fgColor="F8EFDD"),
}
_WIDTHS = {"question": 40, "answer": 60, "ground_truth": 50, "contexts": 50, "id": 24, "why undetermined": 30}
_TEXTS = ("question", "answer", "ground_truth")
_TOP = Alignment(vertical="top")
_FIRST = ("id", "lang", "tags", "outcome", "good", *_TEXTS)
_LAST = ("why undetermined", "contexts", "entry", "reason", "error", "ms", "tokens")


def write_sheet(file: Path, results: Iterable[CaseResult], summary: Summary) -> None:
    """Write the workbook, a row at a time.

    Raises:
        InvalidRequest: if it can't be written.
    """
    workbook = Workbook(write_only=True)
    cases = workbook.create_sheet("cases")
    columns = [*_FIRST, *summary.metrics, *_LAST]
    for place, name in enumerate(columns, 1):
        cases.column_dimensions[get_column_letter(place)].width = _WIDTHS.get(name, 14)
    across(cases)
    cases.freeze_panes = "B2"
    cases.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{len(summary.seen) + 1}"
    cases.row_dimensions[1].height = row_height([("\n", 1)])
    cases.append(head_cells(cases, (name.replace("_", " ") for name in columns)))
    for number, result in enumerate(results, 2):
        good = summary.good_is.of(result)
        cases.row_dimensions[number].height = row_height(_texts(result))
        row = zip(_row(result, good, summary.metrics), columns, strict=True)
        cases.append([_styled(cases, value, name, good) for value, name in row])
    _figures(workbook.create_sheet("figures"), summary)
    save(workbook, file)


def _texts(one: CaseResult) -> Iterator[tuple[str, int]]:
    """What a row must have room for; contexts are cut off."""
    said = one.said.answer if one.said else ""
    for name, text in zip(_TEXTS, (one.case.question, said, one.case.ground_truth), strict=True):
        yield text or "", _WIDTHS[name]


def _row(one: CaseResult, good: bool | None, metrics: Sequence[str]) -> Iterator[Any]:
    said = one.said
    yield from (one.case.id, one.case.lang, ", ".join(one.case.tags), said.outcome if said else "error")
    yield {True: "yes", False: "no", None: "?"}[good]
    yield from (one.case.question, said.answer if said else "", one.case.ground_truth)
    values = [one.value(name) for name in metrics]
    yield from (None if value is None else round(value, 4) for value in values)
    found = {name: one.metrics[name] for name in metrics if name in one.metrics}
    yield "; ".join(f"{name}: {metric.reason}" for name, metric in found.items() if metric.value is None)
    yield "\n---\n".join(context.text for context in said.contexts) if said else ""
    yield from (said.entry if said else "", said.reason if said else "", one.error)
    yield from (said.ms if said else None, one.spent or None)


def _styled(sheet: Any, value: Any, name: str, good: bool | None) -> Any:
    if value is None or value == "":
        return None
    cell = value_cell(sheet, value, WRAPPED if name in (*_TEXTS, "contexts") else _TOP)
    if name == "good":
        cell.fill = _FILLS[good]
    return cell


def _figures(sheet: Any, summary: Summary) -> None:
    """Every figure of the JSON, a row each."""
    sheet.column_dimensions["A"].width = 48
    sheet.append(head_cells(sheet, ("figure", "value")))
    for name, value in _flat("", summary.as_json()):
        sheet.append([sheet_cell(sheet, name), sheet_cell(sheet, value)])


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, list | tuple):
        yield name, ", ".join(map(str, value))
    else:
        yield name, value
