"""The documents behind the gate: what they answer is ours, unless something else speaks against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from classifiers import ClassifierError
from classifiers.gate import GateLabel, GateVerdict, Neighbour
from classifiers.gate.detectors import Clear, Flagged, Panel, Seat
from classifiers.gate.documented import DocumentedGate, Read
from classifiers.gate.rules import EVERY_RULE, Rules
from encoders import Encoded

QUESTION = Encoded("How do I get rid of a sofa?", np.zeros(3, np.float32))


def said(label: GateLabel, **more: Any) -> GateVerdict:
    verdict = {
        "score": 0.3,
        "scope": 0.3,
        "rule": "scope",
        "reason": "little shows it",
        "nearest": None,
    } | more
    return GateVerdict(label=label, judge="examples@2", **verdict)


class Says:
    def __init__(self, verdict: GateVerdict) -> None:
        self._verdict = verdict

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        return self._verdict


class Documents:
    """One passage that answers everything with this probability, from .6 on surely enough; None: none at all."""

    def __init__(self, sure: float | None) -> None:
        self._sure = sure
        self.asked = 0

    async def read(self, question: Encoded, /) -> Read | None:
        self.asked += 1
        if self._sure is None:
            return None
        passage = Neighbour(
            "passage", "Bulky waste › Booking\nBook by phone.", self._sure, 0.2, "must", "waste.md"
        )
        return Read(passage, answers=self._sure >= 0.6)


async def judged(verdict: GateVerdict, documents: Documents, rules: Rules = EVERY_RULE) -> GateVerdict:
    return await DocumentedGate(Says(verdict), documents, rules).judge(QUESTION, tenant="t")


FORBIDDEN = said("must_not", rule="forbidden", topic="harm", score=0.0)


@pytest.mark.parametrize(
    ("verdict", "sure", "label", "rule", "why"),
    [
        (said("unsure"), 0.7, "must", "document", "a passage answers it"),
        (said("may"), 0.9, "must", "document", "a passage answers it"),
        (said("may"), 0.7, "unsure", "document", "a passage may answer it"),  # a refusal takes a surer one
        (said("may"), 0.3, "unsure", "document", "a passage may answer it"),
        (FORBIDDEN, 0.7, "unsure", "forbidden:ours", "a passage answers it"),
    ],
)
async def test_what_a_passage_answers_is_ours(
    verdict: GateVerdict, sure: float, label: GateLabel, rule: str, why: str
) -> None:
    found = await judged(verdict, Documents(sure))
    assert (found.label, found.rule, found.topic) == (label, rule, verdict.topic)
    assert found.reason == f"{why}: “Bulky waste › Booking Book by phone.”; little shows it"
    assert found.nearest
    assert found.nearest.source == "waste.md"


@pytest.mark.parametrize(
    ("verdict", "sure"),
    [
        (said("unsure"), 0.5),
        (said("unsure"), None),
        (said("may"), 0.2),
        (said("may"), None),
        (FORBIDDEN, 0.5),
        (FORBIDDEN, None),
    ],
)
async def test_what_no_passage_answers_stays_where_it_is(verdict: GateVerdict, sure: float | None) -> None:
    assert await judged(verdict, Documents(sure)) is verdict


@pytest.mark.parametrize(
    "rules",
    [Rules(default="refuse"), Rules(default="pass"), Rules(shadow=frozenset({"unsure"}))],
    ids=["refuse", "pass", "in shadow"],
)
async def test_nobody_is_held_back_as_unsure_where_that_sends_to_no_person(rules: Rules) -> None:
    for verdict in (said("may"), FORBIDDEN):
        assert await judged(verdict, Documents(0.7), rules) is verdict
    assert await judged(FORBIDDEN, Documents(0.9), rules) is FORBIDDEN
    assert (await judged(said("may"), Documents(0.9), rules)).label == "must"


@pytest.mark.parametrize(
    "verdict",
    [
        said("must"),
        said("must_not", rule="pattern", topic="injection", score=0.0),
        said("must_not", rule="deny:oven"),
        said("unsure", rule="forbidden", topic="harm"),
        said("unsure", rule="length"),
        said("may", rule="example"),
        said("unsure", score=0.2),  # scope .3: suspected
    ],
    ids=["must", "known attack", "denied", "may be forbidden", "too long", "an example of may", "suspected"],
)
async def test_elsewhere_the_documents_are_not_read(verdict: GateVerdict) -> None:
    documents = Documents(0.99)
    assert await judged(verdict, documents) is verdict
    assert documents.asked == 0


@pytest.mark.parametrize(("sure", "label"), [(0.95, "unsure"), (0.3, "unsure"), (0.2, "may")])
async def test_who_is_suspected_is_not_told_that_it_is_not_ours_where_a_passage_may_answer(
    sure: float, label: GateLabel
) -> None:
    suspected = said("may", score=0.2)  # scope .3
    found = await judged(suspected, Documents(sure))
    assert (found.label, found.rule) == (label, "forbidden:ours" if label == "unsure" else "scope")
    assert await judged(suspected, Documents(sure), Rules(default="refuse")) is suspected


async def test_a_text_that_is_too_long_for_one_question_is_not_let_through() -> None:
    documents, verdict = Documents(0.99), said("may")
    long = Encoded(QUESTION.text * 100, QUESTION.vector)
    assert await DocumentedGate(Says(verdict), documents).judge(long, tenant="t") is verdict
    assert documents.asked == 0


async def test_a_detector_beside_it_is_asked_about_what_the_documents_let_through() -> None:
    class Flags:
        judge = "flags@1"

        async def detect(self, text: str, /) -> Clear | Flagged:
            return Flagged("harm", "it says so")

    gate = Panel(DocumentedGate(Says(said("may")), Documents(0.9)), [Seat(name="flags", detector=Flags())])
    verdict = await gate.judge(QUESTION, tenant="t")
    assert (verdict.label, verdict.rule) == ("must_not", "detector:flags")


async def test_documents_that_cannot_be_read_leave_no_verdict() -> None:
    class Dead(Documents):
        async def read(self, question: Encoded, /) -> Read | None:
            raise ClassifierError("the documents could not be searched")

    with pytest.raises(ClassifierError):
        await judged(said("unsure"), Dead(None))
