"""Baselines: points, ranking, self-checks, likelihood, ROUGE-L and length."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from classifiers import ClassifierError
from classifiers.testing import DeadFaithfulness, ScriptedFaithfulness
from encoders.testing import HashingEncoder
from evaluation.metrics import Measured, Score, Undetermined
from evaluation.metrics.aggregates import NullContexts, false_positives, separated, smallest_k
from evaluation.metrics.examiner import Examiner
from evaluation.metrics.faithfulness import Faithfulness
from evaluation.metrics.gpt_ranking import GptRanking
from evaluation.metrics.gpt_score import GptScore
from evaluation.metrics.likelihood import EchoedTokens, TokenLikelihood
from evaluation.metrics.overlap import Length, RougeL, rouge_l
from evaluation.metrics.registry import ASKED, DEFAULT, LOCAL, METRICS, Judges, open_metrics
from evaluation.metrics.self_check import AskedSelfCheck, ModelSamples, NgramSelfCheck
from evaluation.metrics.statements import AskedStatements
from gateway.errors import InvalidRequest
from tests.chatbot import Chatbot, Fails, Raw
from tests.evaluation.metrics.scripted import ScriptedModel, answered, examiner, split, verdicts

CASE = answered("The fee is 10 yen.", truth="It costs 10 yen.")


def value(found: Measured) -> float | None:
    return found.value if isinstance(found, Score) else None


@pytest.mark.parametrize(
    ("points", "expected"), [(0, 0.0), (7, 0.7), (10, 1.0), (11, None), (-1, None), (7.5, None), ("8", None)]
)
async def test_points_out_of_ten(points: Any, expected: float | None) -> None:
    assert (
        value(await GptScore(examiner({"points": [{"comment": "so", "points": points}]})).measure(CASE))
        == expected
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("1", "2", 1.0), ("2", "1", 0.0), ("1", "1", 0.5), ("2", "2", 0.5), ("tie", "2", 0.5), ("1", "3", None)],
)
async def test_ranking_counts_only_what_holds_in_both_orders(
    first: str, second: str, expected: float | None
) -> None:
    model = ScriptedModel({"ranking": [{"reason": "so", "better": each} for each in (first, second)]})
    assert value(await GptRanking(Examiner(model)).measure(CASE)) == expected
    shown = [(data["answer_1"], data["answer_2"]) for _, _, data in model.asked]
    assert shown[0] == shown[1][::-1]


async def test_equal_answers_are_a_tie_that_costs_nothing() -> None:
    model = ScriptedModel({})
    assert value(await GptRanking(Examiner(model)).compare("q", "Ten yen.", "TEN YEN.", "en")) == 0.5
    assert model.asked == []


def samples(*texts: str) -> ModelSamples:
    return ModelSamples(examiner({"text": list(texts)}), samples=len(texts))


async def test_ngram_self_check_is_1_for_the_same_words_and_less_for_others() -> None:
    same = await NgramSelfCheck(samples(*["The fee is 10 yen."] * 3)).measure(CASE)
    other = await NgramSelfCheck(samples("Call us on Monday.", "We can't say that.")).measure(CASE)
    assert value(same) == pytest.approx(1.0)
    assert (value(other) or 1.0) < 0.6


async def test_ngram_self_check_gives_the_figures_of_the_paper() -> None:
    found = await NgramSelfCheck(samples("a b")).measure(answered("b b"))
    assert isinstance(found, Score)  # counts: a 1, b 3; one is added to each: b has 4 of 6
    assert found.steps["average"] == [round(-math.log(4 / 6), 4)]
    assert found.value == pytest.approx(4 / 6)


async def test_asked_self_check_is_the_share_of_samples() -> None:
    judge = AskedStatements(
        examiner(
            {
                "statements": [split("The fee is 10 yen.", "There is a fee.")],
                "verdicts": [verdicts(1, 0), verdicts(1, 1)],
            }
        )
    )
    found = await AskedSelfCheck(samples("one", "two"), judge).measure(CASE)
    assert isinstance(found, Score)
    assert found.value == 0.75
    assert [each["share"] for each in found.steps["statements"]] == [1.0, 0.5]


def completion(prompt: str, likely: list[float | None]) -> bytes:
    """An echo in pieces of equal length, one token more written after it."""
    size = max(1, len(prompt) // len(likely))
    offsets = [*(min(at * size, len(prompt) - 1) for at in range(len(likely))), len(prompt)]
    told = {"text_offset": offsets, "token_logprobs": [*likely, -99.0], "tokens": [], "top_logprobs": None}
    choice = {"index": 0, "text": prompt, "finish_reason": "length", "logprobs": told}
    return json.dumps(
        {"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
    ).encode()


async def test_likelihood_reads_the_answers_tokens_only() -> None:
    """The endpoint is a small server of the tests that knows the path /completions."""
    with Chatbot() as server:
        scorer = EchoedTokens(base_url=server.base_url, model="m")
        prompt, answer = "1234567890", "abcdefghij"
        server.always(Raw(completion(prompt + answer, [None, -9.0, -1.0, -3.0])))
        assert await scorer.log_probabilities(prompt, answer) == [-1.0, -3.0]
        server.always(Fails(404))
        with pytest.raises(ClassifierError, match="gave no log-probabilities"):
            await scorer.log_probabilities(prompt, answer)
        await scorer.close()


class _Scorer:
    model = "m"

    async def log_probabilities(self, prompt: str, text: str, /) -> list[float]:
        assert "What is the fee?" in prompt
        assert "{" not in prompt
        return [math.log(0.5), math.log(0.125)]


async def test_likelihood_is_a_geometric_mean() -> None:
    assert value(await TokenLikelihood(_Scorer()).measure(CASE)) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ("police killed the gunman", "police kill the gunman", 1.0),  # stems
        ("police kill the gunman", "the gunman kill police", 0.5),  # Lin 2004: in order
        ("粗大ごみは月曜", "粗大ごみは火曜", 6 / 7),
        ("!", "yes", None),
    ],
)
async def test_rouge_l(answer: str, truth: str, expected: float | None) -> None:
    found = rouge_l(answer, truth)
    assert found == (None if expected is None else pytest.approx(expected))
    assert value(await RougeL().measure(answered(answer, truth=truth))) == found


async def test_length_keeps_the_order() -> None:
    short, long = await Length().measure(answered("a b")), await Length().measure(answered("a b c"))
    assert (value(short) or 1) < (value(long) or 0) < 1


async def test_faithfulness_is_f_or_undetermined() -> None:
    case = answered("The fee is 10 yen.", contexts=("The fee is 10 yen.",))
    found = await Faithfulness(ScriptedFaithfulness(), version="1").measure(case)
    assert isinstance(found, Score)
    assert found.value == 1.0
    for judge in (DeadFaithfulness(), ScriptedFaithfulness(unchecked=[case.answer])):
        assert isinstance(await Faithfulness(judge, version="1").measure(case), Undetermined)


def test_answering_is_read_apart_from_retrieval() -> None:
    def case(correctness: float | None, recall: float) -> dict[str, Measured]:
        right: Measured = Undetermined("no") if correctness is None else Score(correctness)
        return {"answer_correctness": right, "context_recall": Score(recall)}

    found = separated([case(0.9, 1.0), case(0.5, 1.0), case(0.2, 0.5), case(None, 1.0), {}])
    assert (found.writing, found.without_contexts) == (pytest.approx(0.7), 0.2)
    assert separated([]).writing is None


def test_null_contexts_have_a_confusion_matrix() -> None:
    found = NullContexts(declined_null=3, answered_null=1, declined_answerable=2, answered_answerable=4)
    assert (found.precision, found.recall) == (0.6, 0.75)


def test_false_positives_and_smallest_k_are_counted() -> None:
    wrong = [{"statement": "a", "from": "invented"}, {"statement": "b", "from": "contexts"}]
    found = false_positives([{"answer_correctness": Score(0.5, {"false_positives": wrong * 2})}])
    assert (found.invented, found.from_contexts, found.unknown, found.invented_share) == (2, 2, 0, 0.5)
    ks = [{"context_recall": Score(1.0, {"smallest_k": k})} for k in (1, 3, 3, None)]
    assert smallest_k(ks) == {1: 0.25, 3: 0.75}


JUDGES = Judges(encoder=HashingEncoder(), faithfulness=ScriptedFaithfulness(), faithfulness_version="1")


def test_every_metric_is_called_what_the_registry_calls_it() -> None:
    model = ScriptedModel({})
    full = Judges(
        encoder=HashingEncoder(), faithfulness=ScriptedFaithfulness(), faithfulness_version="1",
        model=model, sampler=model, tokens=_Scorer(),
    )  # fmt: skip
    names = [*METRICS, "context_recall@5", "context_precision@1"]
    assert [metric.name for metric in open_metrics(names, full)] == names
    assert all(metric.version for metric in open_metrics(names, full))


async def test_beta_of_the_judges_is_that_of_correctness() -> None:
    case = answered("The annual fee is 30 euros.", truth="The annual fee is 30 euros. Dogs may come in.")
    values = []
    for beta in (0.5, 1.0, 2.0):
        (metric,) = open_metrics(["answer_correctness"], replace(JUDGES, beta=beta))
        values.append(value(await metric.measure(case)) or 0.0)
        assert f"beta={beta:g}" in metric.version
    assert values == sorted(values, reverse=True)
    assert values[0] > values[2]


def test_local_metrics_need_no_model_and_others_say_so() -> None:
    assert {metric.name for metric in open_metrics([*LOCAL], JUDGES)} == {*LOCAL}
    assert {*DEFAULT} <= {*LOCAL}
    for name in ASKED:
        with pytest.raises(InvalidRequest, match=f"{name} needs a language model"):
            open_metrics([name], JUDGES)
    with pytest.raises(InvalidRequest, match="there is no rouge"):
        open_metrics(["rouge"], JUDGES)
