"""Rows of cases without `lang` are in the language of their script."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation.cases import Answer, Feedback, FollowUp, GateCase, Pair, ShelfEntry, Traffic, read_cases
from evaluation.cli import app

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
