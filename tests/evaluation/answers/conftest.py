"""Case files, and runs of them by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from evaluation.cli import app

Rows = list[dict[str, Any]]
METRICS = "faithfulness,semantic_similarity"
Evaluate = Callable[..., Result]


def write_rows(file: Path, rows: Rows) -> Path:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


def read_rows(file: Path) -> Rows:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def equal(ours: Any, theirs: Any) -> bool:
    """Whether two runs found the same. How long an answer took is chance, and so is the last digit of a cosine:
    it depends on which texts were encoded together."""
    match ours, theirs:
        case dict(), dict():
            return ours.keys() == theirs.keys() and all(
                key == "ms" or equal(value, theirs[key]) for key, value in ours.items()
            )
        case list(), list():
            return len(ours) == len(theirs) and all(map(equal, ours, theirs))
        case float(), float():
            return bool(ours == pytest.approx(theirs, abs=1e-5))
        case _:
            return bool(ours == theirs)


def evaluated(*words: str | Path) -> Result:
    """`sekisho evaluate …`, failing as the command would."""
    if words[0] == "answers" and "--metrics" not in words:
        words = (*words, "--metrics", METRICS)
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    monkeypatch.chdir(tmp_path)  # no sekisho.yaml lies here
    return evaluated
