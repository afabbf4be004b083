"""Case files: three forms, the same cases; what can't be read is named by line and field."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.styles.numbers import BUILTIN_FORMATS

from cache.errors import UnreadableTable
from evaluation.answers.cases import AnswerCase, Context, case_digest, read_answer_cases
from gateway.domain import Turn
from gateway.errors import InvalidRequest

ROWS: list[dict[str, Any]] = [
    {
        "id": "fee",
        "lang": "en",
        "real_question": "Hi! What is the fee?",
        "question": "What is the fee?",
        "messages": [{"role": "user", "text": "Hello"}],
        "ground_contexts": [{"text": "The fee is 10 yen.", "id": "d1"}, "[1] Fees are fixed."],
        "ground_truth": "10 yen.",
        "recorded_answer": "=10 yen",
        "recorded_contexts": ["The fee is 10 yen."],
        "tags": ["fees", "easy"],
    },
    {"id": "7", "question": "粗大ごみはいつですか", "answerable": False, "tags": ["ごみ"]},
]


def _jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def _cells(rows: list[dict[str, Any]]) -> list[list[Any]]:
    columns = list(dict.fromkeys(key for row in rows for key in row))

    def cell(value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, list | bool) else value

    return [columns, *([cell(row.get(column, "")) for column in columns] for row in rows)]


def _csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(_cells(rows))
    return path


def _xlsx(path: Path, rows: list[dict[str, Any]]) -> Path:
    workbook = Workbook()
    for row in _cells(rows):
        workbook.active.append(row)
        for cell in workbook.active[workbook.active.max_row]:
            cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type
    workbook.save(path)
    return path


def test_the_three_forms_give_the_same_cases(tmp_path: Path) -> None:
    fee, waste = read_answer_cases(_jsonl(tmp_path / "cases.jsonl", ROWS))
    assert [fee, waste] == list(read_answer_cases(_csv(tmp_path / "cases.csv", ROWS)))
    assert [fee, waste] == list(read_answer_cases(_xlsx(tmp_path / "cases.xlsx", ROWS)))
    assert fee == AnswerCase(
        id="fee",
        lang="en",
        real_question="Hi! What is the fee?",
        question="What is the fee?",
        messages=(Turn("user", "Hello"),),
        ground_contexts=(Context("The fee is 10 yen.", "d1"), Context("[1] Fees are fixed.")),
        ground_truth="10 yen.",
        answerable=True,
        recorded_answer="=10 yen",
        recorded_contexts=(Context("The fee is 10 yen."),),
        tags=("fees", "easy"),
    )
    assert (waste.lang, waste.real_question, waste.answerable) == ("ja", waste.question, False)


def test_a_cell_may_hold_one_context_and_tags_with_commas(tmp_path: Path) -> None:
    file = _csv(
        tmp_path / "cases.csv",
        [{"question": "Fee?", "ground_contexts": "[1] The fee is 10 yen.", "tags": "fees、 easy"}],
    )
    (case,) = read_answer_cases(file)
    assert case.ground_contexts == (Context("[1] The fee is 10 yen."),)
    assert case.tags == ("fees", "easy")
    assert case.id.startswith("q-")


def test_what_an_export_of_reviewed_tickets_carries_besides_is_left_alone(tmp_path: Path) -> None:
    row = {"question": "Who won?", "gold": "may", "faithful": None, "entry_id": None, "reason": "may"}
    (case,) = read_answer_cases(_jsonl(tmp_path / "cases.jsonl", [row]))
    assert case.answerable is False


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "x", "ground_truth": "Yes."}, "line 2: the row: expected question or real_question"),
        ({"question": "Q?", "ground_contexts": [""]}, "line 2: ground_contexts.0.text"),
        ({"question": "Q?", "ground_contexts": '["a", '}, "ground_contexts: expected a list as JSON"),
        ({"question": "Q?", "ground_contexts": [{"text": "a", "url": "b"}]}, "ground_contexts.0.url"),
        ({"question": "Q?", "ground_context": "a"}, "ground_context: unknown; did you mean ground_contexts?"),
        ({"question": "Q?", "lang": "English"}, "line 2: lang"),
        ({"question": "Q?", "answerable": "perhaps"}, "line 2: answerable"),
        ({"question": "Q?", "id": "fee"}, "line 2: id: expected another than in line 1"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    file = _jsonl(tmp_path / "cases.jsonl", [ROWS[0], row])
    with pytest.raises(InvalidRequest) as refused:
        list(read_answer_cases(file))
    assert said in str(refused.value)
    assert "cases.jsonl" in str(refused.value)


@pytest.mark.parametrize(
    "asked", ["粗大ごみはいつですか".encode("cp932"), b"When\xff?"], ids=["CP932", "none"]
)
def test_a_sheet_in_another_encoding_is_told_which_one_is_expected(tmp_path: Path, asked: bytes) -> None:
    file = tmp_path / "cases.csv"
    file.write_bytes(b"question,ground_truth\nWhen?,At nine.\n" + asked + b",Tuesday.\n")
    with pytest.raises((InvalidRequest, UnreadableTable), match="expected UTF-8 text"):
        list(read_answer_cases(file))


def test_a_column_that_is_not_read_may_hold_anything(tmp_path: Path) -> None:
    workbook = Workbook()
    for row in (["question", "price"], ["When?", 5]):
        workbook.active.append(row)
    workbook.active["B2"].number_format = BUILTIN_FORMATS[5]  # the sign of each computer's own currency
    workbook.save(tmp_path / "cases.xlsx")
    assert [case.question for case in read_answer_cases(tmp_path / "cases.xlsx")] == ["When?"]


def test_a_quote_that_is_never_closed_swallows_no_case(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text('question\nWhen?\n"Where?\nWho?\n', "utf-8")
    with pytest.raises(UnreadableTable, match=r"cases\.csv, line 3: unexpected end of data"):
        list(read_answer_cases(file))


def test_a_file_without_cases_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("\n", "utf-8")
    with pytest.raises(InvalidRequest, match="holds no cases"):
        list(read_answer_cases(tmp_path / "cases.jsonl"))
    with pytest.raises(InvalidRequest, match="can't be read"):
        list(read_answer_cases(tmp_path / "none.jsonl"))


def test_a_digest_changes_with_whatever_changes(tmp_path: Path) -> None:
    one, _ = read_answer_cases(_jsonl(tmp_path / "cases.jsonl", ROWS))
    other = {
        **ROWS[0],
        "ground_contexts": [{"text": "The fee is 10 yen.", "id": "d2"}, "[1] Fees are fixed."],
    }
    (changed,) = read_answer_cases(_jsonl(tmp_path / "changed.jsonl", [other]))
    assert case_digest(one) == case_digest(one)
    assert case_digest(one) != case_digest(changed)
