"""What becomes of an answer when its statements are judged: the golden vectors, and what is not a pass."""

from __future__ import annotations

from typing import Any

import pytest

from classifiers.faithfulness import Checked, PassageSpan, StatementVerdict, Unchecked, verdict_of
from gateway.rendering import rendered


def said(state: Any, score: float | None = None) -> StatementVerdict:
    return StatementVerdict(text="x", start=0, end=1, state=state, score=score, reason=state, judge="t")


S, U, N = said("supported"), said("unsupported"), said("unchecked")


@pytest.mark.parametrize(
    ("statements", "faithfulness"),
    [
        pytest.param([S, S, S], 1.0, id="all supported"),
        pytest.param([S, S, U], 2 / 3, id="two of three"),
        pytest.param([U], 0.0, id="none"),
        pytest.param([S, N, U], 1 / 3, id="what was not checked is not supported"),
    ],
)
def test_faithfulness_is_the_share_of_supported_statements(
    statements: list[StatementVerdict], faithfulness: float
) -> None:
    verdict = verdict_of(statements, judge="t")
    assert isinstance(verdict, Checked)
    assert verdict.faithfulness == pytest.approx(faithfulness)
    assert verdict.passed is (faithfulness == 1)


@pytest.mark.parametrize("statements", [[N], [S, N], [N, S, S]])
def test_one_unchecked_statement_leaves_the_answer_unchecked(statements: list[StatementVerdict]) -> None:
    verdict = verdict_of(statements, judge="t")
    assert verdict == Unchecked(reason="statement_unchecked", judge="t", statements=tuple(statements))


def test_no_statements_are_nothing_to_check() -> None:
    assert verdict_of([], judge="t") == Unchecked(reason="nothing_to_check", judge="t")


def test_the_worst_statement_is_looked_for_among_the_unsupported_first() -> None:
    verdict = verdict_of(
        [said("supported", 0.3), said("unsupported", 0.4), said("unchecked", 0.1)], judge="t"
    )
    assert isinstance(verdict, Checked)
    assert verdict.worst == 1
    assert verdict.score == 0.4


def test_its_json_keeps_the_names_it_had() -> None:
    span = PassageSpan(2, 4, 8, "text")
    one = StatementVerdict(
        text="x", start=0, end=1, state="supported", score=0.9, reason="", judge="t", span=span
    )
    told: Any = rendered(verdict_of([one], judge="t"))
    assert {"type", "passed", "faithfulness", "score", "statements", "reason", "judge"} <= told.keys()
    [statement] = told["statements"]
    assert (statement["supported"], statement["passage"], statement["evidence"]) == (True, 2, "text")
