"""What becomes of an answer: delivered, delivered without what is unsupported, marked, or kept back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.faithfulness import FaithfulnessVerdict, PassageSpan, StatementVerdict, Unchecked, verdict_of
from classifiers.faithfulness.ruling import Delivered, Held, VerdictPolicy
from classifiers.faithfulness.statements import statements

DROP = VerdictPolicy(repair="drop")
WITHHELD = Held("withheld", "unsupported_statement")


def judged(marked: str) -> tuple[str, FaithfulnessVerdict]:
    """An answer whose unsupported sentences stand in <…>, and whose unchecked ones in {…}."""
    answer = re.sub("[<>{}]", "", marked)
    states, state, at = [], "supported", 0
    for character in marked:
        if character in "<>{}":
            state = {"<": "unsupported", "{": "unchecked"}.get(character, "supported")
        else:
            states.append(state)
            at += 1
    found: list[Any] = [
        StatementVerdict(
            text=one.text,
            start=one.start,
            end=one.end,
            state=states[one.start],
            score=None,
            reason="said",
            judge="t",
        )  # type: ignore[arg-type]
        for one in statements(answer)
    ]
    return answer, verdict_of(found, judge="t")


def ruled(policy: VerdictPolicy, marked: str, question: str = "How much is the annual pass?") -> Any:
    answer, verdict = judged(marked)
    return policy.ruling(answer, verdict, question=question)


GOOD = "The annual pass costs 120 EUR. Dogs may come along."
BAD = "The annual pass costs 120 EUR. <Dogs may come along.>"
WORSE = "The annual pass costs 120 EUR. <Dogs may come along. Cats may come along.>"
OPEN = "The annual pass costs 120 EUR. {Dogs may come along.}"


@pytest.mark.parametrize(
    ("policy", "answer", "ruling"),
    [
        pytest.param(VerdictPolicy(), GOOD, Delivered(GOOD, "supported"), id="supported"),
        pytest.param(VerdictPolicy(), BAD, WITHHELD, id="one unsupported statement is enough"),
        pytest.param(VerdictPolicy(), OPEN, Held("escalated", "unchecked"), id="unchecked goes to a person"),
        pytest.param(VerdictPolicy(on_unchecked="withhold"), OPEN, Held("withheld", "unchecked"), id="or is withheld"),
        pytest.param(VerdictPolicy(on_unchecked="deliver"), OPEN, Delivered(OPEN.translate({123: None, 125: None}), "unchecked"), id="or delivered as such"),
        pytest.param(VerdictPolicy(on_unchecked="deliver"), "{Dogs may come.} <Cats may come.>", WITHHELD, id="unsupported counts more than unchecked"),
        pytest.param(VerdictPolicy(block="mean", mean=0.5), BAD, Delivered(GOOD, "marked"), id="F at the threshold"),
        pytest.param(VerdictPolicy(block="mean", mean=0.5), WORSE, WITHHELD, id="F below the threshold"),
        pytest.param(VerdictPolicy(block="nothing"), WORSE, Delivered(re.sub("[<>]", "", WORSE), "marked"), id="marks only"),
        pytest.param(DROP, BAD, Delivered("The annual pass costs 120 EUR.", "repaired", ("Dogs may come along.",)), id="repaired"),
        pytest.param(VerdictPolicy(block="mean", mean=0.5, repair="drop"), BAD, Delivered(GOOD, "marked"), id="what F allows needs no repair"),
        pytest.param(DROP, OPEN, Held("escalated", "unchecked"), id="what nobody found wrong is not repaired"),
        pytest.param(DROP, "The annual pass costs 120 EUR. <Dogs may come.> {Cats may come.}", Delivered("The annual pass costs 120 EUR.", "repaired", ("Dogs may come.", "Cats may come.")), id="a repair leaves nothing unchecked"),
    ],
)  # fmt: skip
def test_each_policy(policy: VerdictPolicy, answer: str, ruling: object) -> None:
    assert ruled(policy, answer) == ruling


def test_no_verdict_at_all_is_ruled_as_unchecked() -> None:
    nothing = Unchecked(reason="no_contexts", judge="t")
    assert VerdictPolicy().ruling("x", nothing, question="x") == Held("escalated", "unchecked")


@pytest.mark.parametrize(
    ("answer", "question", "rest"),
    [
        pytest.param(
            "Bring these to the counter:\n\n- your passport\n- <a photo of your dog>\n- the filled-in form\n\nThe counter opens at 9:00.",
            "What do I bring to the counter for a passport?",
            "Bring these to the counter:\n\n- your passport\n- the filled-in form\n\nThe counter opens at 9:00.",
            id="an item of a list",
        ),
        pytest.param(
            "# Fees\n\nThe annual pass costs 120 EUR.\n\n# Dogs\n\n<Dogs pay 3 EUR.>\n\n# Refunds\n\nRefunds of the pass take 14 days.",
            "How much is the annual pass?",
            "# Fees\n\nThe annual pass costs 120 EUR.\n\n# Refunds\n\nRefunds of the pass take 14 days.",
            id="a heading goes with all that stood below it",
        ),
        pytest.param(
            "The annual pass costs 120 EUR [1]. <Dogs pay 3 EUR [2].> Children pay 60 EUR [1].",
            "How much is the annual pass?",
            "The annual pass costs 120 EUR [1]. Children pay 60 EUR [1].",
            id="a citation goes with its sentence",
        ),
        pytest.param(
            "年間パスの料金は12,000円です。<犬は無料です。>払い戻しは14日以内に受け付けます。",
            "年間パスはいくらですか",
            "年間パスの料金は12,000円です。払い戻しは14日以内に受け付けます。",
            id="Japanese",
        ),
        pytest.param(
            "年票价格为120元。<狗免费入场。>退款在14天内办理。", "年票多少钱？", "年票价格为120元。退款在14天内办理。", id="Chinese",
        ),
        pytest.param(
            "| Pass | Price |\n|---|---|\n| annual pass | 120 EUR |\n<| dog pass | 3 EUR |>\n",
            "How much is the annual pass?",
            "| Pass | Price |\n|---|---|\n| annual pass | 120 EUR |",
            id="a row of a table",
        ),
        pytest.param(
            "The annual pass costs 120 EUR. <Dogs pay 3 EUR.> Let me know if this helps!",
            "How much is the annual pass?",
            "The annual pass costs 120 EUR. Let me know if this helps!",
            id="an offer points to the answer, not to the gap",
        ),
    ],
)  # fmt: skip
def test_a_repair_leaves_the_rest_as_it_was_written(answer: str, question: str, rest: str) -> None:
    told = ruled(DROP, answer, question)
    assert isinstance(told, Delivered)
    assert told.reason == "repaired"
    assert told.text == rest


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        pytest.param("<The annual pass costs 150 EUR.>", "How much is the annual pass?", id="nothing is left"),
        pytest.param("Hello! <The annual pass costs 150 EUR.> Can I help you with anything else?", "How much is the annual pass?", id="no statement is left"),
        pytest.param("<The annual pass costs 150 EUR.> The museum has a garden.", "How much is the annual pass?", id="the rest is about something else"),
        pytest.param("<The annual pass costs 150 EUR.> The annual pass is valid in all museums.", "How much is the annual pass?", id="the figure that was asked for is gone"),
        pytest.param("The annual pass costs 120 EUR. <Students pay half.> They have to show a card.", "How much is the annual pass?", id="a pronoun after the gap"),
        pytest.param("The annual pass costs 120 EUR. <Students pay half.> However, groups don't.", "How much is the annual pass?", id="a conjunction after the gap"),
        pytest.param("There are two passes. The annual pass costs 120 EUR. <The day pass costs 5 EUR.>", "How much is the annual pass?", id="a count of what was listed"),
        pytest.param("1. Fill in the form for the pass.\n2. <Sign the form.>\n3. Hand in the form.", "How do I get the pass?", id="a step is missing"),
        pytest.param("To get the pass: 1. Fill in the form for the pass. 2. <Sign the form.> 3. Hand in the form.", "How do I get the pass?", id="a step on the same line is missing"),
        pytest.param("Yes. <You may bring dogs to the garden.> The garden opens at nine.", "May I bring dogs to the garden?", id="a bare yes"),
        pytest.param("The pass has these prices in the annual list:\n- <120 EUR for adults>\n\nThe annual pass is sold at the desk.", "How much is the annual pass?", id="a claim that announces what is gone"),
        pytest.param("年間パスは12,000円です。<学生は半額です。>ただし、証明書が必要です。", "年間パスはいくらですか", id="Japanese conjunction"),
        pytest.param("年間パスは12,000円です。<学生証が要ります。>窓口で買えます。", "年間パスはいくらですか", id="Japanese without a topic"),
        pytest.param("年票价格为120元。<学生半价。>但需出示证件。", "年票多少钱？", id="Chinese conjunction"),
        pytest.param("**Note: The annual pass costs 120 EUR. <Dogs may come.>** See you.", "How much is the annual pass?", id="half an emphasis"),
        pytest.param("The annual pass costs 120 EUR. <Dogs may come.>", "", id="no question"),
    ],
)  # fmt: skip
def test_what_would_not_answer_or_not_stand_alone_is_kept_back(answer: str, question: str) -> None:
    assert ruled(DROP, answer, question) == WITHHELD


def test_an_unsupported_statement_that_stands_nowhere_in_the_answer_can_not_be_cut_out() -> None:
    answer, verdict = judged(BAD)
    elsewhere = StatementVerdict(
        text="Cats pay.", start=0, end=0, state="unsupported", score=None, reason="said", judge="t"
    )
    verdict = verdict_of([*verdict.statements, elsewhere], judge="t")
    assert DROP.ruling(answer, verdict, question="How much is the annual pass?") == WITHHELD


def test_the_place_that_supports_a_statement_says_what_it_is_about() -> None:
    answer, verdict = judged("It costs 120 EUR. <Dogs may come.>")
    assert DROP.ruling(answer, verdict, question="How much is the annual pass?") == WITHHELD
    first, *rest = verdict.statements
    text = "The annual pass costs 120 EUR."
    known = StatementVerdict(
        text=first.text, start=first.start, end=first.end, state="supported", score=None, reason="", judge="t",
        span=PassageSpan(0, 0, len(text), text),
    )  # fmt: skip
    told = DROP.ruling(answer, verdict_of([known, *rest], judge="t"), question="How much is the annual pass?")
    assert told == Delivered("It costs 120 EUR.", "repaired", ("Dogs may come.",))


SENTENCES = [
    "The annual pass costs 120 EUR.", "Dogs may come along.", "However, cats may not.", "- a passport", "# Fees",
    "1. Pay 5 EUR.", "2. Wait.", "年間パスは12,000円です。", "学生は半額です。", "年票120元。", "| a | b |", "Can I help you?", "(It is new.)",
]  # fmt: skip
POLICIES = [
    VerdictPolicy(block=block, repair=repair, on_unchecked=on_unchecked)  # type: ignore[arg-type]
    for block, repair, on_unchecked in product(["any", "mean"], ["none", "drop"], ["escalate", "withhold"])
]


@given(
    st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from(["", "<", "{"])), min_size=1, max_size=7),
    st.sampled_from(POLICIES),
    st.sampled_from(["\n", " ", "\n\n"]),
)
def test_no_strict_policy_lets_an_unsupported_statement_out(
    parts: Sequence[tuple[str, str]], policy: VerdictPolicy, between: str
) -> None:
    ends = {"": "", "<": ">", "{": "}"}
    marked = between.join(f"{mark}{text}{ends[mark]}" for text, mark in parts)
    answer, verdict = judged(marked)
    told = policy.ruling(answer, verdict, question="How much is the annual pass 年間パス 年票?")
    if not isinstance(told, Delivered) or told.reason == "marked":
        return
    supported = {one.text for one in verdict.statements if one.supported}
    assert all(any(one.text in each for each in supported) for one in statements(told.text))
    if told.reason == "supported":
        assert told.text == answer
