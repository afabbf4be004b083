"""Two judges: who is asked about what, and what happens where the second can't be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from classifiers import ClassifierError
from classifiers.faithfulness import (
    Checked,
    FaithfulnessVerdict,
    StatementState,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from classifiers.faithfulness.cascade import CascadeJudge
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.faithfulness.llm import LlmJudge
from classifiers.faithfulness.statements import statements
from tests.classifiers.faithfulness.models import Reply, SaidModel, verdicts

CONTEXTS = ["The annual pass costs 120 EUR.", "Dogs may come along."]
ANSWER = "The annual pass costs 120 EUR. Dogs may come along. Cats may come along."


class First:
    """A judge that gives the scores of the test, with its cut at 0.5; None leaves a statement unchecked."""

    def __init__(self, *scores: float | None) -> None:
        self._scores = scores

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        return verdict_of(
            [
                StatementVerdict(text=one.text, start=one.start, end=one.end, state=_state(score), score=score, reason="", judge="first")
                for one, score in zip(statements(answer), self._scores, strict=True)
            ],
            judge="first",
        )  # fmt: skip


def _state(score: float | None) -> StatementState:
    return "unchecked" if score is None else "supported" if score >= 0.5 else "unsupported"


async def judged(scores: Sequence[float | None], *said: Reply) -> tuple[FaithfulnessVerdict, SaidModel, Any]:
    model, told = SaidModel(verdicts=said), []
    judge = CascadeJudge(First(*scores), LlmJudge(model), on_decided=told.append)
    return await judge.judge(ANSWER, CONTEXTS), model, told


async def test_what_the_first_is_sure_of_goes_no_further() -> None:
    verdict, model, told = await judged([0.95, 0.9, 0.05])
    assert isinstance(verdict, Checked)
    assert verdict.faithfulness == pytest.approx(2 / 3)
    assert model.asked == []
    assert told == [{"first": 3}]


async def test_all_that_it_is_unsure_of_is_asked_in_one_call() -> None:
    verdict, model, told = await judged([0.95, 0.6, 0.3], verdicts(1, 0))
    assert [asked["statements"] for asked in model.of("verdicts")] == [
        [{"index": 1, "statement": "Dogs may come along."}, {"index": 2, "statement": "Cats may come along."}]
    ]
    assert [(one.state, one.judge, one.score) for one in verdict.statements] == [
        ("supported", "first", 0.95),
        ("supported", "llm@1:said", 1.0),
        ("unsupported", "llm@1:said", 0.0),
    ]
    assert verdict.judge == "first llm@1:said"
    assert told == [{"first": 1, "second": 2, "nobody": 0}]


@pytest.mark.parametrize(
    ("scores", "said", "states"),
    [
        pytest.param([0.95, 0.6, 0.7], ClassifierError("away"), ["supported", "unchecked", "unchecked"], id="the second is down"),
        pytest.param([0.95, 0.6, 0.01], ClassifierError("away"), ["supported", "unchecked", "unsupported"], id="it is down, and the first was sure of an error"),
        pytest.param([0.95, 0.6, 0.7], verdicts(1), ["supported", "supported", "unchecked"], id="it forgets one"),
        pytest.param([None, None, None], verdicts(1, 1, 0), ["supported", "supported", "unsupported"], id="the first could check nothing"),
    ],
)  # fmt: skip
async def test_a_statement_that_nobody_decided_is_no_pass(
    scores: list[float | None], said: Reply, states: list[str]
) -> None:
    verdict, _, told = await judged(scores, said)
    assert [one.state for one in verdict.statements] == states
    assert isinstance(verdict, Checked if "unsupported" in states else Unchecked)
    assert told[0]["nobody"] == states.count("unchecked")


async def test_an_answer_in_another_language_than_its_contexts_goes_to_the_second() -> None:
    model = SaidModel(verdicts=[verdicts(1)])
    judge = CascadeJudge(LexicalJudge(), LlmJudge(model))
    verdict = await judge.judge("年間パスは百二十ユーロです。", CONTEXTS)
    assert isinstance(verdict, Checked)
    assert verdict.passed


@pytest.mark.parametrize("contexts", [[], CONTEXTS])
async def test_where_there_is_nothing_to_check_nobody_is_asked(contexts: list[str]) -> None:
    model = SaidModel()
    told: list[Mapping[Any, int]] = []
    judge = CascadeJudge(LexicalJudge(), LlmJudge(model), on_decided=told.append)
    answer = ANSWER if not contexts else "Hello! How can I help you?"
    assert isinstance(await judge.judge(answer, contexts), Unchecked)
    assert model.asked == []
