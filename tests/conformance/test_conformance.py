"""The same recorded replies through ragas 0.4.3 and through our metrics: equal, or a listed decision.

ragas.json holds what ragas makes of them (`python -m tests.conformance.record`); where ragas is installed (extra
`conformance`) it is asked again.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from classifiers.faithfulness.llm import LlmJudge
from encoders.testing import HashingEncoder
from evaluation.answers.cases import AnswerCase, AnsweredCase, Context
from evaluation.metrics import Measured, Metric, Score
from evaluation.metrics.asked_retrieval import AttributedRecall, UsefulPrecision
from evaluation.metrics.context_relevance import RatedContexts
from evaluation.metrics.correctness import AnswerCorrectness, AskedFactuality
from evaluation.metrics.examiner import Examiner
from evaluation.metrics.faithfulness import Faithfulness
from evaluation.metrics.noise import NoiseRobustness
from evaluation.metrics.relevance import AnswerRelevance
from evaluation.metrics.retrieval import ContextPrecision, ContextRecall, RankedContextPrecision
from evaluation.metrics.similarity import SemanticSimilarity
from evaluation.metrics.statements import AskedStatements
from tests.evaluation.metrics.scripted import ScriptedModel

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = json.loads((HERE / "replies.json").read_text("utf-8"))
RAGAS: dict[str, dict[str, float | str]] = json.loads((HERE / "ragas.json").read_text("utf-8"))["values"]
DECISIONS = (HERE.parent.parent / "docs" / "evaluation-metrics.md").read_text("utf-8")


def name(case: dict[str, Any]) -> str:
    return f"{case['metric']}: {case['name']}"


def metric(case: dict[str, Any]) -> Metric:
    """Ours, with the replies of the case behind it."""
    model = ScriptedModel(case["replies"])
    asks, how = Examiner(model), case.get("options", {})
    match case["metric"]:
        case "faithfulness":
            return Faithfulness(LlmJudge(model), version="1")
        case "answer_relevance":
            return AnswerRelevance(asks, HashingEncoder())
        case "context_relevance":
            return RatedContexts(asks)
        case "answer_correctness":
            weights = tuple(how["weights"])
            return AnswerCorrectness(
                AskedFactuality(asks), HashingEncoder(), beta=how["beta"], weights=weights
            )
        case "context_recall_llm":
            return AttributedRecall(asks)
        case "context_precision_llm":
            return UsefulPrecision(asks)
        case "noise_robustness":
            return NoiseRobustness(AskedStatements(asks), mode=how["mode"])
        case "context_recall_id":
            return ContextRecall(by="id")
        case "context_precision_id":
            return ContextPrecision(by="id")
        case "context_recall_distance":
            return ContextRecall(by="distance")
        case "context_precision_distance":
            return RankedContextPrecision(by="distance")
        case "semantic_similarity":
            return SemanticSimilarity(HashingEncoder())
    raise KeyError(case["metric"])


def contexts(given: list[Any]) -> tuple[Context, ...]:
    return tuple(Context(one) if isinstance(one, str) else Context(one["text"], one["id"]) for one in given)


async def ours(case: dict[str, Any]) -> float | str:
    """The value as ragas would say it: noise robustness is 1 - its noise sensitivity, undetermined its NaN."""
    asked = AnswerCase(
        id="1", lang="en", real_question=case["question"], question=case["question"],
        ground_truth=case["truth"], ground_contexts=contexts(case.get("ground", [])),
    )  # fmt: skip
    found: Measured = await metric(case).measure(
        AnsweredCase(case=asked, answer=case["answer"], contexts=contexts(case["contexts"]), outcome="rag")
    )
    if not isinstance(found, Score):
        return "undetermined"
    return 1 - found.value if case["metric"] == "noise_robustness" else found.value


def test_every_case_was_recorded_once() -> None:
    assert [name(case) for case in CASES] == list(RAGAS)


@pytest.mark.parametrize("case", [case for case in CASES if "decision" not in case], ids=name)
async def test_the_numbers_agree(case: dict[str, Any]) -> None:
    found = await ours(case)
    assert isinstance(found, float)
    for path, value in RAGAS[name(case)].items():
        assert found == pytest.approx(value, abs=1e-6), path


@pytest.mark.parametrize("case", [case for case in CASES if "decision" in case], ids=name)
async def test_a_difference_is_a_decision_that_is_listed(case: dict[str, Any]) -> None:
    found = await ours(case)
    theirs = RAGAS[name(case)].values()
    assert any(
        value != (pytest.approx(found, abs=1e-6) if isinstance(found, float) else found) for value in theirs
    )
    assert f"`{case['decision']}`" in DECISIONS
    if found != "undetermined":  # a number of ours that is not theirs is stated, too
        assert found == pytest.approx(case["ours"], abs=1e-6)


@pytest.mark.skipif(not importlib.util.find_spec("ragas"), reason="ragas is not installed")
def test_ragas_still_says_what_was_recorded() -> None:
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.conformance.record"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(told.stdout)["values"] == RAGAS
