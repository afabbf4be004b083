"""The model's replies that ragas is known by, given to our judge: the same F, or a difference that is meant.

`ragas_vectors.json` holds the replies, F by ragas 0.4.3 (null: NaN) and ours (null: unchecked).
docs/faithfulness.md lists the differences.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from classifiers.faithfulness import Checked
from classifiers.faithfulness.llm import LlmJudge
from tests.classifiers.faithfulness.models import SaidModel

GIVEN: dict[str, Any] = json.loads(Path(__file__).with_name("ragas_vectors.json").read_text("utf-8"))
VECTORS: list[dict[str, Any]] = GIVEN["vectors"]


def replies(vector: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the model says in both steps, in the form that ragas asks for."""
    statements = vector.get("statements", GIVEN["statements"])
    repeated = [*statements, *([vector["extra"]] if "extra" in vector else [])]
    if vector.get("words") == "other":
        repeated = [f"It is said that {each}" for each in repeated]
    said = [
        {"statement": each, "reason": "because", "verdict": verdict}
        for each, verdict in zip(repeated, vector["verdicts"], strict=False)
    ]
    return {"statements": statements}, {"statements": said}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
async def test_the_same_replies_give_the_same_f(vector: dict[str, Any]) -> None:
    split, said = replies(vector)
    judge = LlmJudge(SaidModel(statements=[split], verdicts=[said]))
    verdict = await judge.judge(
        vector.get("answer", GIVEN["answer"]), GIVEN["contexts"], question=GIVEN["question"]
    )
    found = verdict.faithfulness if isinstance(verdict, Checked) else None
    assert found == (None if vector["ours"] is None else pytest.approx(vector["ours"]))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_only_what_is_marked_as_a_difference_differs(vector: dict[str, Any]) -> None:
    assert (vector["ours"] != vector["ragas"]) is vector.get("differs", False)
