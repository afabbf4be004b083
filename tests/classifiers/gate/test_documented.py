"""The documents behind the gate: what they answer is ours, unless something else speaks against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from classifiers import ClassifierError
from classifiers.gate import GateLabel, GateVerdict, Neighbour
from classifiers.gate.detectors import Clear, Flagged, Panel, Seat
from classifiers.gate.documented import DocumentedGate
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
    """One passage that answers everything so surely; None: nothing."""

    def __init__(self, sure: float | None) -> None:
        self._sure = sure
        self.asked = 0

    async def answering(self, question: Encoded, /) -> Neighbour | None:
        self.asked += 1
        if self._sure is None:
            return None
        return Neighbour(
            "passage", "Bulky waste › Booking\nBook by phone.", self._sure, 0.2, "must", "waste.md"
        )


async def judged(verdict: GateVerdict, documents: Documents) -> GateVerdict:
    return await DocumentedGate(Says(verdict), documents).judge(QUESTION, tenant="t")


@pytest.mark.parametrize(
    ("label", "sure", "becomes"),
    [
        ("unsure", 0.7, "must"),
        ("unsure", None, "unsure"),
        ("may", 0.9, "must"),
        ("may", 0.7, "may"),  # a refusal takes a surer passage
        ("may", None, "may"),
    ],
)
async def test_what_a_passage_answers_is_ours(label: GateLabel, sure: float | None, becomes: str) -> None:
    verdict = await judged(said(label), Documents(sure))
    assert verdict.label == becomes
    if becomes == "must":
        assert verdict.rule == "document"
        assert verdict.reason == (
            "a passage answers it: “Bulky waste › Booking Book by phone.”; little shows it"
        )
        assert verdict.nearest
        assert verdict.nearest.source == "waste.md"


@pytest.mark.parametrize(
    "verdict",
    [
        said("must"),
        said("must_not", rule="forbidden", topic="harm", score=0.0),
        said("unsure", rule="forbidden", topic="harm"),
        said("unsure", rule="length"),
        said("may", rule="example"),
        said("unsure", score=0.2),  # scope .3: suspected
    ],
    ids=["must", "forbidden", "may be forbidden", "too long", "an example of may", "suspected"],
)
async def test_elsewhere_the_documents_are_not_read(verdict: GateVerdict) -> None:
    documents = Documents(0.99)
    assert await judged(verdict, documents) is verdict
    assert documents.asked == 0


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
        async def answering(self, question: Encoded, /) -> Neighbour | None:
            raise ClassifierError("the documents could not be searched")

    with pytest.raises(ClassifierError):
        await judged(said("unsure"), Dead(None))
