"""Answer relevance and context relevance in their forms, with their edge cases."""

from __future__ import annotations

from typing import Any

import pytest

from encoders.testing import HashingEncoder
from evaluation.metrics import Score, Undetermined
from evaluation.metrics.context_relevance import ContextSimilarity, ExtractedSentences, RatedContexts
from evaluation.metrics.examiner import Examiner
from evaluation.metrics.relevance import AnswerRelevance, QuestionAnswerSimilarity
from tests.evaluation.metrics.scripted import ScriptedModel, answered, examiner

CASE = answered("The fee is 10 yen.")


def question(text: str, noncommittal: Any = 0) -> dict[str, Any]:
    return {"question": text, "noncommittal": noncommittal}


async def test_questions_like_the_one_asked_score_high_and_are_shown() -> None:
    model = ScriptedModel(
        {"question": [question("What is the fee?"), question("How high is the fee?"), question("Fee?")]}
    )
    found = await AnswerRelevance(Examiner(model), HashingEncoder()).measure(CASE)
    assert isinstance(found, Score)
    cosines = [each["cosine"] for each in found.steps["questions"]]
    assert cosines[0] == pytest.approx(1.0)
    assert found.value == pytest.approx(sum(cosines) / 3, abs=1e-3)
    assert [len(data["written_before"]) for _, _, data in model.asked] == [0, 1, 2]


@pytest.mark.parametrize(
    ("rule", "flags", "is_zero"),
    [
        ("all", (1, 1, 1), True),
        ("all", (1, 0, 1), False),
        ("any", (0, 0, 1), True),
        ("any", (0, 0, 0), False),
    ],
)
async def test_the_rule_says_when_an_evasive_answer_scores_0(
    rule: Any, flags: tuple[int, ...], is_zero: bool
) -> None:
    replies = {"question": [question("What is the fee?", flag) for flag in flags]}
    found = await AnswerRelevance(examiner(replies), HashingEncoder(), noncommittal=rule).measure(CASE)
    assert isinstance(found, Score)
    assert (found.value == 0.0) is is_zero


async def test_no_question_is_undetermined_unless_the_answer_evades() -> None:
    metric = AnswerRelevance(examiner({"question": [question("")]}), HashingEncoder())
    assert isinstance(await metric.measure(CASE), Undetermined)
    metric = AnswerRelevance(examiner({"question": [question("", 1)]}), HashingEncoder())
    assert (await metric.measure(CASE)) == Score(0.0, (await metric.measure(CASE)).steps)


@pytest.mark.parametrize("flag", [2, "0", None])
async def test_a_flag_is_0_or_1(flag: Any) -> None:
    metric = AnswerRelevance(examiner({"question": [question("What is the fee?", flag)]}), HashingEncoder())
    assert isinstance(await metric.measure(CASE), Undetermined)


async def test_without_a_model_the_cosine_has_a_name_of_its_own() -> None:
    metric = QuestionAnswerSimilarity(HashingEncoder())
    near, far = await metric.measure(CASE), await metric.measure(answered("Zebras run."))
    assert isinstance(near, Score)
    assert isinstance(far, Score)
    assert near.value > far.value
    assert metric.name == "question_answer_similarity"


CONTEXTS = ("The fee is 10 yen. It is due in May.", "粗大ごみは月曜日です。雨の日も集めます。")


@pytest.mark.parametrize(
    ("extracted", "expected"),
    [
        ([], 0.0),
        (["The fee is 10 yen."], 0.25),
        (["The fee is 10 yen", "粗大ごみは月曜日です"], 0.5),
        (["The fee is 10 yen. It is due in May.", "粗大ごみは月曜日です。雨の日も集めます。"], 1.0),
    ],
)
async def test_extracted_sentences_out_of_all(extracted: list[str], expected: float) -> None:
    metric = ExtractedSentences(examiner({"context_sentences": [{"sentences": extracted}]}))
    found = await metric.measure(answered("x", contexts=CONTEXTS))
    assert isinstance(found, Score)
    assert found.value == expected


async def test_sentences_that_stand_nowhere_were_not_extracted() -> None:
    metric = ExtractedSentences(
        examiner({"context_sentences": [{"sentences": ["Insufficient Information"]}]})
    )
    assert isinstance(await metric.measure(answered("x", contexts=CONTEXTS)), Undetermined)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(2, 2, 1.0), (2, 1, 0.75), (0, 1, 0.25), (2, 3, 1.0), (None, 1, 0.5), ("2", 0, 0.0), (10, -1, None)],
)
async def test_two_ratings_or_the_one_that_can_be_read(
    first: Any, second: Any, expected: float | None
) -> None:
    replies = {"context_rating": [{"rating": first}], "context_rating_again": [{"rating": second}]}
    found = await RatedContexts(examiner(replies)).measure(answered("x", contexts=CONTEXTS))
    assert (found.value if isinstance(found, Score) else None) == expected


@pytest.mark.parametrize("contexts", [(), (" ",), ("What is the fee?",), ("the fee",)])
async def test_contexts_that_add_nothing_are_not_rated(contexts: tuple[str, ...]) -> None:
    model = ScriptedModel({})
    found = await RatedContexts(Examiner(model)).measure(answered("x", contexts=contexts))
    assert isinstance(found, Score)
    assert (found.value, model.asked) == (0.0, [])


async def test_context_similarity_is_a_mean() -> None:
    found = await ContextSimilarity(HashingEncoder()).measure(
        answered("x", contexts=("What is the fee?", "zzz"))
    )
    assert isinstance(found, Score)
    assert found.steps["cosines"][0] == pytest.approx(1.0)
    assert found.value == pytest.approx(sum(found.steps["cosines"]) / 2, abs=1e-3)
