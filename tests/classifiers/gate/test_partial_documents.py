"""Documents that cover two thirds of what is asked: their silence sends to a person what it used to refuse."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from benchmarks.gate import documents
from benchmarks.partial_documents import read_helpdesk
from classifiers.gate import GateVerdict
from classifiers.gate.examples import ExampleGate
from encoders import encode_one
from encoders.memo import MemoEncoder
from encoders.shipped import load_shipped

Verdicts = dict[str, list[GateVerdict]]


async def judge(language: str) -> tuple[ExampleGate, Verdicts]:
    encoder = MemoEncoder(load_shipped())
    policy, passages, questions = read_helpdesk(language)
    gate = await ExampleGate.fit(policy, encoder, [await documents(passages, encoder)])
    return gate, {
        kind: [await gate.judge(await encode_one(encoder, text), tenant="t") for text in texts]
        for kind, texts in questions.items()
    }


@pytest.fixture(scope="module", params=["ja", "en"])
def judged(request: pytest.FixtureRequest) -> tuple[ExampleGate, Verdicts]:
    """The gate of a helpdesk, and what it says of every question, by kind."""
    return anyio.run(judge, request.param)


def called(label: str, verdicts: Sequence[GateVerdict]) -> int:
    return sum(verdict.label == label for verdict in verdicts)


def test_few_of_ours_are_refused_for_the_silence_of_documents(
    judged: tuple[ExampleGate, Verdicts],
) -> None:
    _, found = judged
    ours = [*found["ours_answered"], *found["ours_unanswered"]]
    assert called("may", ours) <= 2, [verdict.reason for verdict in ours if verdict.label == "may"]


def test_most_far_questions_are_refused_as_before(
    judged: tuple[ExampleGate, Verdicts],
) -> None:
    _, found = judged
    assert called("must", found["far"]) == 0
    assert called("unsure", found["far"]) <= 3


def test_the_operator_hears_of_the_gaps(judged: tuple[ExampleGate, Verdicts]) -> None:
    gate, found = judged
    assert any("documents speak of about" in note for note in gate.notes)
    forgiven = [v for v in found["ours_unanswered"] if v.label == "unsure" and "of what is ours" in v.reason]
    assert forgiven
    assert all(verdict.nearest_ours is not None for verdict in forgiven)
