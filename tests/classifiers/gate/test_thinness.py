"""Each class and topic that is too thin says how many examples it lacks."""

from __future__ import annotations

import pytest

from classifiers.gate import ClassPolicy, Policy, Topic
from classifiers.gate.examples import ExampleGate
from classifiers.gate.thinness import thin_notes
from encoders.testing import HashingEncoder


def texts(count: int) -> tuple[str, ...]:
    return tuple(f"question number {number}" for number in range(count))


FULL = Policy(
    must=ClassPolicy("", texts(49)),
    may=ClassPolicy("", texts(20)),
    topics=(Topic("crime", "", texts(10)),),
)


def test_a_full_policy_needs_no_note() -> None:
    assert thin_notes(FULL, max_false_refusal=0.02) == ()


@pytest.mark.parametrize(
    ("policy", "share", "begins"),
    [
        (Policy(ClassPolicy("", texts(47)), FULL.may), 0.02, "must has 47 examples: 2 more are needed"),
        (Policy(FULL.must, ClassPolicy("", texts(1))), 0.02, "may has 1 example: 19 more are needed"),
        (Policy(FULL.must, FULL.may), 0.01, "must has 49 examples: 50 more are needed to promise at most 1%"),
        (
            Policy(FULL.must, FULL.may, topics=(Topic("crime", "", texts(4)), *FULL.topics)),
            0.02,
            "must_not topic crime has 4 examples: 6 more are needed",
        ),
        (
            Policy(FULL.must, FULL.may, ClassPolicy("", texts(3))),
            0.02,
            "must_not has 3 examples: 7 more are needed",
        ),
        (
            Policy(FULL.must, ClassPolicy("", (*texts(19), "QUESTION number 1"))),
            0.02,
            "may has 19 examples: 1 more",
        ),
    ],
    ids=["must", "may", "another promise", "a topic", "must not", "the same text twice"],
)
def test_a_thin_class_is_named(policy: Policy, share: float, begins: str) -> None:
    (note,) = thin_notes(policy, max_false_refusal=share)
    assert note.startswith(begins)


async def test_a_gate_says_it_of_every_class() -> None:
    policy = Policy(ClassPolicy("cards", texts(5)), ClassPolicy("", texts(2)), topics=(Topic("crime"),))
    gate = await ExampleGate.fit(policy, HashingEncoder())
    assert [note.split(" has ")[0] for note in gate.notes[:3]] == ["must", "may", "must_not topic crime"]
