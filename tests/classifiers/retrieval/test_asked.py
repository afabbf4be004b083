"""A language model as evaluator: its replies, and what is done where it gives none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from classifiers import ClassifierError
from classifiers.retrieval import PassageEvidence
from classifiers.retrieval.asked import AskedQuery, AskedRelevance
from classifiers.testing import ScriptedRelevance
from encoders import Encoded

QUESTION = Encoded("What does parking cost?", np.zeros(4, dtype=np.float32))
PASSAGES = [PassageEvidence(text) for text in ("Parking costs 5 EUR.", "Dogs.")]


class Model:
    """Says what it was told to; it plays a language model."""

    model = "played"

    def __init__(self, reply: str | Exception, *, wait_s: float = 0.0) -> None:
        self.reply, self.wait_s = reply, wait_s
        self.asked: list[tuple[str, str]] = []

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        self.asked.append((system, user))
        await asyncio.sleep(self.wait_s)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def says(*answers: str) -> str:
    return json.dumps({"passages": [{"number": i, "answers": each} for i, each in enumerate(answers, 1)]})


@pytest.mark.parametrize(
    ("reply", "label", "scores"),
    [
        (says("yes", "no"), "correct", (1.0, 0.0)),
        (says("partly", "no"), "ambiguous", (0.5, 0.0)),
        (says("no", "no"), "incorrect", (0.0, 0.0)),
        (says("no"), "ambiguous", (0.0, 0.5)),  # one was left out
        ('{"passages": [{"number": 2, "answers": "yes"}]}', "correct", (0.5, 1.0)),
    ],
)
async def test_the_models_answers_are_aligned_by_number(
    reply: str, label: str, scores: tuple[float, ...]
) -> None:
    told: list[str] = []
    model = Model(reply)
    verdict = await AskedRelevance(model, ScriptedRelevance(), on_reply=told.append).judge(QUESTION, PASSAGES)
    assert (verdict.label, verdict.scores, told) == (label, scores, ["answered"])
    assert json.loads(model.asked[0][1])["passages"][1] == {"number": 2, "text": "Dogs."}
    assert "JSON" in model.asked[0][0]


@pytest.mark.parametrize("reply", ["yes", "{}", '{"passages": [{"number": 1, "answers": "maybe"}]}', ""])
async def test_a_reply_that_cannot_be_read_is_ambiguous_and_counted(reply: str) -> None:
    told: list[str] = []
    verdict = await AskedRelevance(Model(reply), ScriptedRelevance(), on_reply=told.append).judge(
        QUESTION, PASSAGES
    )
    assert (verdict.label, told) == ("ambiguous", ["unreadable"])


@pytest.mark.parametrize("model", [Model(ClassifierError("dead")), Model(says("yes", "yes"), wait_s=5)])
async def test_a_dead_or_slow_model_leaves_the_verdict_to_the_other_judge(model: Model) -> None:
    told: list[str] = []
    otherwise = ScriptedRelevance([each.text for each in PASSAGES])
    judge = AskedRelevance(model, otherwise, timeout_s=0.05, on_reply=told.append)
    verdict = await judge.judge(QUESTION, PASSAGES)
    assert (verdict.label, verdict.judge, told) == ("incorrect", "scripted@1", ["failed"])


@pytest.mark.parametrize(
    ("text", "word"), [("What?", "keywords"), ("何ですか", "検索語"), ("是什么？", "检索词")]
)
async def test_a_query_is_asked_for_in_the_language_of_the_question(text: str, word: str) -> None:
    model = Model('{"query": "parking \\n fee"}')
    assert await AskedQuery(model).query(text) == "parking fee"
    assert word in model.asked[0][0]


@pytest.mark.parametrize("reply", ["parking", '{"query": " "}'])
async def test_no_query_is_an_error(reply: str) -> None:
    with pytest.raises(ClassifierError):
        await AskedQuery(Model(reply)).query("What?")
