"""What a model can do wrong leaves a metric undetermined: no number is made up, and every reply is kept."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from classifiers import ClassifierError
from encoders.testing import HashingEncoder
from evaluation.metrics import Metric, Score, Undetermined
from evaluation.metrics.asked_retrieval import AttributedRecall, UsefulPrecision
from evaluation.metrics.citations import CitationSupport
from evaluation.metrics.context_relevance import ExtractedSentences, RatedContexts
from evaluation.metrics.correctness import AnswerCorrectness, AskedFactuality
from evaluation.metrics.examiner import LANGUAGES, Examiner, prompt_of
from evaluation.metrics.gpt_ranking import GptRanking
from evaluation.metrics.gpt_score import GptScore
from evaluation.metrics.noise import NoiseRobustness
from evaluation.metrics.relevance import AnswerRelevance
from evaluation.metrics.self_check import AskedSelfCheck, ModelSamples, NgramSelfCheck
from evaluation.metrics.statements import AskedStatements
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel
from tests.chatbot import Chatbot, Says
from tests.evaluation.metrics.scripted import ScriptedModel, answered, examiner, verdicts

CASE = answered("The fee is 10 yen [1].", truth="10 yen.", contexts=("The fee is 10 yen.", "We open at 9."))
PROMPTS = (
    "correctness", "question", "context_sentences", "context_rating", "context_rating_again",
    "attribution", "usefulness", "points", "ranking",
)  # fmt: skip
FORMS = (*PROMPTS, "statements", "verdicts")


def every_asking_metric(model: ScriptedModel, *, timeout_s: float = 60.0) -> list[Metric]:
    asks = Examiner(model, timeout_s=timeout_s)
    statements, samples = AskedStatements(asks), ModelSamples(asks, samples=2)
    return [
        AnswerCorrectness(AskedFactuality(asks), HashingEncoder()),
        AnswerRelevance(asks, HashingEncoder()),
        RatedContexts(asks),
        ExtractedSentences(asks),
        AttributedRecall(asks),
        UsefulPrecision(asks),
        NoiseRobustness(statements),
        CitationSupport(statements),
        CitationSupport(statements, side="precision"),
        GptScore(asks),
        GptRanking(asks),
        AskedSelfCheck(samples, statements),
    ]


@pytest.mark.parametrize(
    "nonsense",
    [
        "I'd rather not.",
        "{}",
        "[]",
        '{"statements": "one"}',
        '{"verdict": NaN}',
        '{"rating": "2 out of 2"}',
        "{" * 5000,
    ],
    ids=lambda text: text[:20],
)
async def test_nonsense_is_undetermined(nonsense: str) -> None:
    model = ScriptedModel({form: [nonsense] for form in FORMS} | {"text": ["A sample."]})
    for metric in every_asking_metric(model):
        found = await metric.measure(CASE)
        assert isinstance(found, Undetermined), metric.name
        assert nonsense in [each["reply"] for each in found.steps["replies"]], metric.name


async def test_silence_is_undetermined() -> None:
    for metric in every_asking_metric(ScriptedModel({}, silent=True), timeout_s=0.01):
        found = await metric.measure(CASE)
        assert isinstance(found, Undetermined), metric.name


async def test_a_model_that_writes_no_sample_is_undetermined() -> None:
    metric = NgramSelfCheck(ModelSamples(examiner({"text": ["  "]})))
    assert await metric.measure(CASE) == Undetermined(
        "scripted answered nothing", {"replies": [{"form": "text", "reply": "  "}]}
    )


@pytest.mark.parametrize("given", [(1,), (1, 1, 1), ()])
async def test_other_than_one_verdict_a_statement_is_undetermined(given: tuple[int, ...]) -> None:
    judge = AskedStatements(examiner({"verdicts": [verdicts(*given)]}))
    with pytest.raises(ClassifierError, match="no verdict on 2 of 2 statements"):
        await judge.support(["one", "two"], ["text"], "why", language="en", steps={})


@pytest.mark.parametrize("verdict", [2, -1, "1", 0.5, None])
async def test_a_verdict_is_0_or_1(verdict: Any) -> None:
    judge = AskedStatements(examiner({"verdicts": [verdicts(verdict)]}))
    with pytest.raises(ClassifierError):
        await judge.support(["one"], ["text"], "why", language="en", steps={})


async def test_golden_vector_of_verdicts() -> None:
    judge = AskedStatements(examiner({"verdicts": [verdicts(1, 1, 0)]}))
    found = await judge.support(["a", "b", "c"], ["text"], "why", language="en", steps={})
    assert sum(each.supported for each in found) / len(found) == pytest.approx(0.6667, abs=1e-4)


def test_every_prompt_is_there_in_three_languages() -> None:
    folder = files("evaluation.metrics") / "prompts"
    names = {language: {file.name for file in (folder / language).iterdir()} for language in LANGUAGES}
    assert (
        names["en"]
        == names["ja"]
        == names["zh"]
        == {f"{form}.md" for form in (*PROMPTS, "sample", "likelihood")}
    )
    assert prompt_of("points", "ja") != prompt_of("points", "zh")
    assert prompt_of("points", "fr") == prompt_of("points", "en")


async def test_the_language_of_the_case_chooses_the_prompt() -> None:
    model = ScriptedModel({"points": [{"comment": "良い", "points": 7}]})
    await GptScore(Examiner(model)).measure(answered("10円です。", question="料金はいくらですか", lang="ja"))
    assert model.asked[0][1] == prompt_of("points", "ja")


async def test_over_the_wire_the_schema_is_asked_for_and_the_reply_kept() -> None:
    """The model is a small OpenAI-compatible server of the tests."""
    with Chatbot(Says('```json\n{"comment": "right", "points": 9}\n```', place="nowhere")) as server:
        model = ChatModel(base_url=server.base_url, model="m")
        found = await GptScore(Examiner(AskedModel(model, most_tokens=500))).measure(CASE)
        await model.close()
    assert isinstance(found, Score)
    assert found.value == 0.9
    assert found.steps["comment"] == "right"
    assert server.asked[0].body["response_format"]["json_schema"]["name"] == "points"
