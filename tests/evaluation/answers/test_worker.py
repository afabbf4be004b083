"""A worker: what it encodes together, and how many cases a kill can cost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from encoders import EncoderError, Vector
from encoders.memo import MemoEncoder
from encoders.testing import HashingEncoder
from evaluation.answers.cases import AnswerCase
from evaluation.answers.judging import Meter
from evaluation.answers.targets import Recorded
from evaluation.answers.worker import TOGETHER, Job, Task, Worker
from evaluation.metrics.relevance import QuestionAnswerSimilarity
from evaluation.metrics.similarity import SemanticSimilarity
from gateway.settings import Settings

LLM = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
CHATBOT = {"kind": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m"}


class Counting(HashingEncoder):
    """An encoder that keeps what it was asked for, and fails where it is told to."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.calls: list[list[str]] = []
        self._fails = fails

    async def encode(self, texts: Sequence[str], /) -> Vector:
        self.calls.append(list(texts))
        if self._fails:
            raise EncoderError("the model is gone")
        return await super().encode(texts)


def _case(place: int, *, answer: str) -> AnswerCase:
    question = f"What is fee number {place}?"
    return AnswerCase(
        id=f"c{place}",
        lang="en",
        real_question=question,
        question=question,
        ground_truth=f"Fee number {place} is {place} yen, and nobody pays more.",
        recorded_answer=answer,
    )


def _worker(encoder: HashingEncoder | MemoEncoder) -> Worker:
    metrics = (SemanticSimilarity(encoder), QuestionAnswerSimilarity(encoder))
    return Worker(Recorded(), metrics, encoder, Meter(), concurrency=8)


async def test_what_metrics_compare_is_encoded_once_together_and_by_length() -> None:
    model = Counting()
    cases = [_case(place, answer=f"It is {place} yen.") for place in range(8)]
    cases.append(_case(8, answer=" "))  # nothing to compare
    found = await _worker(MemoEncoder(model)).run([Task(case) for case in cases])
    assert [len(call) for call in model.calls] == [24]
    assert model.calls[0] == sorted(model.calls[0], key=len)
    alone = await _worker(HashingEncoder()).run([Task(case) for case in cases])
    assert [{n: m.value for n, m in one.metrics.items()} for one in found] == [
        {n: m.value for n, m in one.metrics.items()} for one in alone
    ]


async def test_an_encoder_that_forgets_is_asked_for_nothing_beforehand() -> None:
    model = Counting()
    await _worker(model).run([Task(_case(1, answer="It is 1 yen."))])
    assert len(model.calls) == 2  # one for each metric


async def test_where_nothing_can_be_encoded_each_metric_says_so() -> None:
    (found,) = await _worker(MemoEncoder(Counting(fails=True))).run([Task(_case(1, answer="It is 1 yen."))])
    assert {one.reason for one in found.metrics.values()} == {"the model is gone"}


@pytest.mark.parametrize(
    ("target", "settings", "batch"),
    [
        pytest.param("recorded", {}, TOGETHER, id="recorded answers and local judges cost nobody anything"),
        pytest.param("recorded", {"upstream": CHATBOT}, TOGETHER, id="a chatbot that is not asked"),
        pytest.param("gateway", {}, TOGETHER, id="a gateway over its own documents"),
        pytest.param("gateway", {"upstream": CHATBOT}, 4, id="a chatbot behind the gateway"),
        pytest.param("recorded", {"evaluation": {"llm": LLM}}, 4, id="a model that judges"),
    ],
)
def test_a_kill_costs_no_more_paid_cases_than_are_under_way(
    target: str, settings: dict[str, object], batch: int
) -> None:
    job = Job(settings=Settings.model_validate(settings), target=target, metrics=(), concurrency=4)  # type: ignore[arg-type]
    assert job.batch == batch
    assert job.waits == (batch == 4)
