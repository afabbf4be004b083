"""A language model as judge: it decides where the gate is unsure, and what can't be read decides nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from classifiers import ClassifierError
from classifiers.gate import GateLabel, GateVerdict
from classifiers.gate.criteria import CriteriaDetector, CriteriaJudge, SecondOpinion
from classifiers.gate.detectors import Clear, Flagged
from classifiers.gate.examples import LONGEST_QUESTION
from classifiers.gate.rules import TORN, Rules
from encoders import Encoded
from tests.classifiers.gate.policies import BANK

QUESTION = "Can I bring my card back?"


class Model:
    """A model that says what the test put here."""

    model = "model-1"

    def __init__(self, says: object = None) -> None:
        self.says = says
        self.asked: list[tuple[str, str]] = []

    async def ask(self, system: str, user: str, schema: Mapping[str, Any], /) -> str:
        self.asked.append((system, user))
        if isinstance(self.says, Exception):
            raise self.says
        if isinstance(self.says, float):
            await asyncio.sleep(self.says)
        return self.says if isinstance(self.says, str) else json.dumps(self.says)


class Fixed:
    """A gate with one verdict."""

    def __init__(self, label: GateLabel, rule: str = "scope", topic: str | None = None) -> None:
        self.verdict = GateVerdict(
            label=label, score=0.4, reason="said the test", nearest=None, topic=topic, judge="t@1", rule=rule
        )

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        return self.verdict


def says(label: str, topic: str | None = None) -> dict[str, Any]:
    return {"reason": "because", "label": label, "topic": topic}


async def judged(gate: Fixed, model: Model, text: str = QUESTION) -> tuple[GateVerdict, list[str]]:
    told: list[str] = []
    opinion = SecondOpinion(gate, CriteriaJudge(model, BANK, timeout_s=0.05), told=told.append)
    verdict = await opinion.judge(Encoded(text, np.ones(2, np.float32)), tenant="default")
    return verdict, told


@pytest.mark.parametrize(
    ("reply", "label", "topic"),
    [
        (says("must"), "must", None),
        (says("may"), "may", None),
        (says("must_not", "politics"), "must_not", "politics"),
        (says("must_not", "a topic it made up"), "must_not", None),
        (says("unsure"), "unsure", None),
        ("```json\n" + json.dumps(says("must")) + "\n```", "must", None),
    ],
    ids=str,
)
async def test_it_decides_what_the_gate_could_not(reply: object, label: str, topic: str | None) -> None:
    verdict, told = await judged(Fixed("unsure"), Model(reply))
    assert (verdict.label, verdict.topic) == (label, topic)
    assert verdict.rule == ("scope" if label == "unsure" else "llm")
    assert told == [label]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "must",
        "This is a must question.",
        '{"label": "MUST"}',
        '{"label": "must or may", "reason": "", "topic": null}',
        '{"label": ["must"]}',
        '{"verdict": "must"}',
        '{"label": "must"} {"label": "must_not"}',
        '{"label": "must"',
        "null",
        ClassifierError("the model is away"),
        5.0,
    ],
    ids=str,
)
async def test_a_reply_that_cannot_be_read_decides_nothing(reply: object) -> None:
    verdict, told = await judged(Fixed("unsure"), Model(reply))
    assert (verdict.label, verdict.rule, told) == ("unsure", "scope", ["failed"])


@pytest.mark.parametrize("label", ["must", "may", "must_not"])
async def test_it_is_not_asked_where_the_gate_is_sure(label: GateLabel) -> None:
    model = Model(says("must"))
    verdict, told = await judged(Fixed(label), model)
    assert (verdict.label, told, model.asked) == (label, [], [])


@pytest.mark.parametrize(
    ("gate", "reply", "label"),
    [
        (Fixed("unsure", "forbidden", "politics"), "must", "unsure"),
        (Fixed("unsure", "forbidden", "politics"), "must_not", "must_not"),
        (Fixed("unsure", "forbidden", "politics"), "may", "may"),
        (Fixed("must_not", "forbidden", "politics"), "must", "must_not"),
        (Fixed("unsure", "detector:guard"), "must", "unsure"),
        (Fixed("unsure", TORN), "must", "unsure"),
        (Fixed("unsure", "length"), "must", "unsure"),
        (Fixed("unsure", "empty"), "must", "unsure"),
    ],
)
async def test_it_allows_nothing_that_was_suspected_or_not_checked(
    gate: Fixed, reply: str, label: str
) -> None:
    assert (await judged(gate, Model(says(reply))))[0].label == label


async def test_it_reads_no_text_that_hides_more_than_it_asks() -> None:
    model = Model(says("must"))
    verdict, _ = await judged(Fixed("unsure"), model, "a" * (LONGEST_QUESTION + 1))
    assert (verdict.label, model.asked) == ("unsure", [])


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        (QUESTION, "You are the gatekeeper"),
        ("カードを返せますか", "あなたは問い合わせ窓口の門番です"),
        ("可以退卡吗", "你是服务台的把关人"),
    ],
)
async def test_it_is_asked_in_the_language_of_the_question_by_the_descriptions(
    text: str, prompt: str
) -> None:
    model = Model(says("must"))
    await judged(Fixed("unsure"), model, text)
    [(system, user)] = model.asked
    assert system.startswith(prompt)
    given = json.loads(user)
    assert given["question"] == text
    assert given["criteria"]["must"]["description"] == BANK.must.description
    assert [topic["name"] for topic in given["criteria"]["must_not"]["topics"]] == ["politics"]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (says("must"), Clear()),
        (says("may"), Clear()),
        (says("unsure"), Clear()),
        (says("must_not", "politics"), Flagged("politics", "because")),
        (says("must_not"), Flagged("guard", "because")),
    ],
    ids=str,
)
async def test_as_a_detector_it_only_forbids(reply: object, found: Clear | Flagged) -> None:
    detector = CriteriaDetector(CriteriaJudge(Model(reply), BANK), topic="guard")
    assert await detector.detect(QUESTION) == found


async def test_as_a_detector_it_fails_where_it_cannot_be_read() -> None:
    detector = CriteriaDetector(CriteriaJudge(Model("yes"), BANK), topic="guard")
    with pytest.raises(ClassifierError):
        await detector.detect(QUESTION)


@pytest.mark.parametrize(
    ("gate", "reply", "shadow", "label"),
    [
        (Fixed("unsure"), "may", "may", "must"),
        (Fixed("unsure"), "may", "llm", "must"),
        (Fixed("unsure"), "must_not", "must_not", "unsure"),
        (Fixed("unsure", "forbidden", "politics"), "may", "may", "unsure"),
        (Fixed("unsure"), "must", "llm", "must"),
    ],
)
async def test_what_a_model_says_can_be_in_shadow(gate: Fixed, reply: str, shadow: str, label: str) -> None:
    judge = CriteriaJudge(Model(says(reply)), BANK, timeout_s=0.05)
    opinion = SecondOpinion(gate, judge, rules=Rules(shadow=frozenset({shadow})))
    verdict = await opinion.judge(Encoded(QUESTION, np.ones(2, np.float32)), tenant="default")
    assert verdict.label == label
    assert [one.label for one in verdict.shadow] == ([] if reply == "must" else [reply])
