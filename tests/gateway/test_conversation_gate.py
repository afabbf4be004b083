"""The gate over a conversation, with a scripted gate beneath: which turns are judged, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from classifiers import ClassifierError
from classifiers.gate import GateLabel, GateVerdict
from classifiers.gate.rules import TORN
from classifiers.testing import DeadGate
from encoders import Encoded, encode_one
from encoders.testing import HashingEncoder
from gateway.domain import Conversation, Question, Turn
from gateway.gatekeeping import turns
from gateway.gatekeeping.turns import ConversationGate

ENCODER = HashingEncoder()


class Scripted:
    """Forbids what contains "bomb", takes what contains "library" for ours, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        self.asked.append(question.text)
        label: GateLabel = (
            "must_not" if "bomb" in question.text else "must" if "library" in question.text else "unsure"
        )
        scope = {"must_not": 0.1, "must": 0.95, "unsure": 0.4}[label]
        return GateVerdict(
            label=label, score=scope, reason=label, nearest=None, judge="t", rule="scope", scope=scope
        )


def asked(*texts: str, self_contained: bool = False) -> Question:
    said = tuple(Turn("user" if place % 2 == 0 else "assistant", text) for place, text in enumerate(texts))
    conversation = Conversation(turns=said, tenant="default", request_id="r")
    return Question(text=texts[-1], language="en", conversation=conversation, self_contained=self_contained)


async def label(*texts: str, self_contained: bool = False) -> str:
    question = asked(*texts, self_contained=self_contained)
    encoded = await encode_one(ENCODER, question.in_view)
    return (await ConversationGate(Scripted(), ENCODER).judge(question, encoded)).label


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("the library?", "Yes.", "and on Sundays?"), "must"),
        (("a bomb?", "No.", "and how big?"), "must_not"),
        (("a bomb?", "No.", "the library, then?"), "must"),
        (("the library?", "Yes.", "a bomb?"), "must_not"),
        (("a bomb?", "No.", "hm.", "Yes?", "and how big?"), "must_not"),
        (("say 'bo'", "bo", "say 'mb'", "mb", "both?"), "must_not"),
        (("the weather?", "No.", "and tomorrow?"), "unsure"),
    ],
    ids=str,
)
async def test_the_worst_view_forbids_unless_the_question_is_plainly_ours(
    texts: Sequence[str], expected: str
) -> None:
    assert await label(*texts) == expected


async def test_a_question_that_stands_alone_is_judged_alone() -> None:
    assert await label("a bomb?", "No.", "the weather?", self_contained=True) == "unsure"


async def test_earlier_turns_are_judged_once_while_they_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Scripted()
    judged = ConversationGate(gate, ENCODER)
    first = asked("the library?", "Yes.", "a bomb?", "No.", "and on Sundays?")
    for _ in range(3):
        cleared = await judged.cleared(first)
        assert [turn.text for turn in cleared.conversation.turns] == [
            "the library?",
            "Yes.",
            "and on Sundays?",
        ]
        assert cleared.in_view == "and on Sundays?"
    assert sorted(gate.asked) == sorted(["the library?", "Yes.", "a bomb?", "No."])
    monkeypatch.setattr(turns, "REMEMBERED", 0)  # what is forgotten is judged again
    later = asked("the library?", "Yes.", "a bomb?", "No.", "hm.", "Well.", "and on Mondays?")
    assert len((await judged.cleared(later)).conversation.turns) == 5
    assert len((await judged.cleared(later)).conversation.turns) == 5


async def test_a_turn_that_cannot_be_judged_is_not_shown_to_rag() -> None:
    with pytest.raises(ClassifierError):
        await ConversationGate(DeadGate(), ENCODER).cleared(asked("the library?", "Yes.", "and on Sundays?"))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("scope", "unsure"), ("forbidden", "unsure"), ("example", "unsure"), ("deny:trade union", "must_not")],
)
async def test_who_wants_a_person_gets_past_all_but_the_deny_list(rule: str, expected: str) -> None:
    class Forbids(Scripted):
        async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
            verdict = await super().judge(question, tenant=tenant, group=group)
            return replace(verdict, label="must_not", rule=rule)

    question = replace(asked("a human, please", self_contained=True), wants_person=True)
    encoded = await encode_one(ENCODER, question.in_view)
    assert (await ConversationGate(Forbids(), ENCODER).judge(question, encoded)).label == expected


async def test_a_turn_on_which_the_gate_is_torn_is_not_shown_to_rag_and_forbids_what_leans_on_it() -> None:
    class Torn(Scripted):
        async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
            verdict = await super().judge(question, tenant=tenant, group=group)
            return replace(verdict, label="unsure", rule=TORN) if verdict.label == "must_not" else verdict

    gate = ConversationGate(Torn(), ENCODER)
    cleared = await gate.cleared(asked("a bomb in the library?", "No.", "and on Sundays?"))
    assert [turn.text for turn in cleared.conversation.turns] == ["and on Sundays?"]
    question = asked("a bomb?", "No.", "and how big?")
    verdict = await gate.judge(question, await encode_one(ENCODER, question.in_view))
    assert (verdict.label, verdict.rule) == ("unsure", TORN)
