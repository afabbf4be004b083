"""Rows of cases without `lang` are in the language of their script."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from typer.testing import CliRunner

from evaluation.cases import (
    Answer,
    Feedback,
    FollowUp,
    GateCase,
    Pair,
    ShelfEntry,
    Traffic,
    read_cases,
    read_shelf,
)
from evaluation.cli import app
from gateway.errors import InvalidRequest

DESCRIPTION = Path(__file__).parents[2] / "docs/evaluation.md"
FORMS: dict[type[Any], dict[str, Any]] = {
    Traffic: {"text": "{}", "entry_id": None},
    Feedback: {"text": "{}", "entry_id": None},
    GateCase: {"text": "{}", "gold": "must"},
    ShelfEntry: {"entry_id": "e", "questions": ["OK", "{}"]},
    Answer: {"answer": "12", "contexts": [], "faithful": True, "question": "{}"},
    FollowUp: {"messages": [{"role": "user", "content": "{}"}], "standalone": True},
    Pair: {"cached_question": "{}", "question": "{}", "should_reuse": True},
}
TEXTS = {"en": "How do I pay?", "ja": "支払い方法は？", "zh": "怎么付款？"}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_without_a_language_the_script_says_it(tmp_path: Path, form: type[Any]) -> None:
    file = tmp_path / "cases.jsonl"
    row = json.dumps(FORMS[form], ensure_ascii=False)
    stated = json.dumps(FORMS[form] | {"lang": "de"}, ensure_ascii=False)
    lines = [*(row.replace("{}", text) for text in TEXTS.values()), stated]
    file.write_text("\n".join(lines), "utf-8")
    assert [case.lang for case in read_cases(file, form)] == [*TEXTS, "de"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_where_the_script_does_not_tell_the_operator_does(tmp_path: Path, form: type[Any]) -> None:
    file = tmp_path / "cases.jsonl"
    row = json.dumps(FORMS[form], ensure_ascii=False).replace("{}", "開館時間").replace("OK", "予約方法")
    file.write_text(row, "utf-8")
    assert [read_cases(file, form, default)[0].lang for default in ("ja", "zh")] == ["ja", "zh"]
    assert read_cases(file, form)[0].lang == "ja"


def test_a_shelf_is_in_the_language_that_it_is_asked_in(tmp_path: Path) -> None:
    sheet, rows = tmp_path / "faq.csv", tmp_path / "faq.jsonl"
    sheet.write_text("id,question,answer\nhours,開館時間,9時\n", "utf-8")
    rows.write_text('{"entry_id": "hours", "questions": ["開館時間"]}', "utf-8")
    assert [read_shelf(file, "zh")[0].lang for file in (sheet, rows)] == ["zh", "zh"]
    assert [read_shelf(file)[0].lang for file in (sheet, rows)] == ["ja", "ja"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_key_of_a_file_is_described(form: type[Any]) -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", DESCRIPTION.read_text("utf-8"), re.MULTILINE)
    described = re.findall(r"\w+", " ".join(rows))
    assert form.model_fields.keys() - {"lang"} <= {*described}


@pytest.mark.parametrize(
    ("command", "forms"),
    [
        ("cache", [Pair, ShelfEntry, Traffic, Feedback]),
        ("gate", [GateCase]),
        ("faithfulness", [Answer]),
        ("followups", [FollowUp]),
    ],
)
def test_the_help_names_every_key_that_has_to_be_there(command: str, forms: list[type[Any]]) -> None:
    said = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    for form in forms:
        for name, field in form.model_fields.items():
            assert not field.is_required() or name in said, name


def test_both_questions_of_a_pair_are_read_and_what_is_stated_counts(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    across = {"cached_question": TEXTS["en"], "question": TEXTS["ja"], "should_reuse": True}
    rows = [across, across | {"lang": "ja"}, across | {"cached_lang": "fr"}]
    file.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    found = [(pair.lang, pair.cached_lang) for pair in read_cases(file, Pair)]
    assert found == [("ja", "en"), ("ja", None), ("ja", "fr")]


IN_CELLS: dict[type[Any], dict[str, Any]] = {
    Traffic: {"text": "How do I pay?", "entry_id": None, "slice": "far_oos"},
    Feedback: {"text": "How do I pay?", "entry_id": "pay"},
    GateCase: {"text": "How do I pay?", "gold": "must"},
    ShelfEntry: {"entry_id": "e", "questions": ["[Fee] How?", "Why?"], "valid_until": "2030-01-31"},
    Answer: {
        "answer": "12", "contexts": ["It is 12."], "faithful": False, "question": "How much?",
        "unsupported": [{"start": 0, "end": 2, "type": "number"}],
    },
    FollowUp: {"messages": [{"role": "user", "content": "And [then]?"}], "standalone": True},
    Pair: {"cached_question": "How?", "question": "Why?", "should_reuse": False},
}  # fmt: skip


@pytest.mark.parametrize("form", IN_CELLS, ids=lambda form: form.__name__)
def test_the_three_forms_give_the_same_cases_and_empty_cells_the_default(
    tmp_path: Path, form: type[Any]
) -> None:
    row = IN_CELLS[form]
    (tmp_path / "c.jsonl").write_text(json.dumps(row), "utf-8")
    cells = [
        json.dumps(row[name]) if isinstance(row.get(name), list | bool) else row.get(name) or ""
        for name in form.model_fields
    ]
    with (tmp_path / "c.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([form.model_fields, cells])
    workbook = Workbook()
    workbook.active.append([*form.model_fields])
    workbook.active.append(cells)
    workbook.save(tmp_path / "c.xlsx")
    (tmp_path / "nulls.jsonl").write_text(json.dumps(dict.fromkeys(form.model_fields) | row), "utf-8")
    [expected] = read_cases(tmp_path / "c.jsonl", form)
    assert read_cases(tmp_path / "nulls.jsonl", form) == [expected]
    assert read_cases(tmp_path / "c.csv", form) == [expected]
    assert read_cases(tmp_path / "c.xlsx", form) == [expected]


def test_a_single_context_stands_in_a_cell_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("answer,contexts,faithful\n12,[1] It is 12.,yes\n13,,no\n", "utf-8")
    assert [case.contexts for case in read_cases(file, Answer)] == [["[1] It is 12."], []]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "text,gold\nWhy?,must\nHow?,\n", r"a\.csv, line 3: gold: Input should be 'must'"),
        ("a.csv", "text\nWhy?\n", r"a\.csv, line 2: gold: Field required"),
        ("a.csv", "text,gold\n,must\n", r"a\.csv, line 2: text: String should have at least 1"),
        ("a.csv", "text,gold\n", r"a\.csv holds no cases"),
        ("a.jsonl", '\n{"text": "Why?"\n', r"a\.jsonl, line 2: row: expected a JSON object"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_in_every_form(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InvalidRequest, match=said):
        read_cases(tmp_path / name, GateCase)
