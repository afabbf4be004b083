"""Questions of other helpdesks stand beside ours, unless they are ours too."""

from __future__ import annotations

import pytest

from classifiers.gate import ClassPolicy, Policy
from classifiers.gate.examples import ExampleGate
from classifiers.gate.material import ENOUGH_FOR_BACKGROUND, gather
from classifiers.gate.shipped import Attacks, Shipped, shipped_background
from encoders.testing import HashingEncoder

CARDS = tuple(
    f"how do i block my {colour} card at the {place}"
    for colour in ["red", "blue", "green", "black", "gold", "silver", "grey"]
    for place in ["airport", "station", "market", "office", "harbour", "school", "museum", "stadium"]
)
SEA = tuple(
    f"which {fish} lives under the {place}"
    for fish in ["eel", "cod", "shark", "whale"]
    for place in ["pier", "reef"]
)
BLOCKED = tuple(f"how do i block my {colour} card at the bank" for colour in ["pink", "white", "brown"])
ENCODER = HashingEncoder(384)


async def subjects(must: tuple[str, ...], background: dict[str, tuple[str, ...]]) -> set[str]:
    """Of the background that a gate compares with."""
    gate = await ExampleGate.fit(
        Policy(ClassPolicy("", must), ClassPolicy()),
        ENCODER,
        shipped=Shipped(attacks=Attacks(), everyday=(), background=background),
    )
    assert gate._scope is not None
    return {sample.source for sample in gate._scope.contrast.samples if sample.label == "may"}


async def test_a_subject_that_is_ours_in_part_is_left_out_whole() -> None:
    background = {"sea": SEA, "blocking": (*BLOCKED, *SEA[:4])}
    assert await subjects(CARDS, background) == {"sea"}


@pytest.mark.parametrize(
    "must",
    [
        pytest.param(CARDS[: ENOUGH_FOR_BACKGROUND - 1], id="too few to show what is ours"),
        pytest.param(tuple(f"{number}番の口座を閉じたい" for number in range(60)), id="another language"),
    ],
)
async def test_the_background_waits_for_examples_in_its_language(must: tuple[str, ...]) -> None:
    assert await subjects(must, {"sea": SEA}) == set()


async def test_the_background_yields_where_it_would_cost_the_promise() -> None:
    strange = tuple(
        f"{word} {word}s"
        for word in ["pier", "reef", "eel", "cod", "shark", "whale", "which", "lives", "under"]
    )
    assert await subjects(CARDS, {"sea": SEA * 3}) == {"sea"}
    assert await subjects((*CARDS, *strange), {"sea": SEA * 3}) == set()


async def test_what_is_shipped_holds_no_question_to_a_bank() -> None:
    background = shipped_background()
    assert {"banking", "credit_cards"}.isdisjoint(background)
    texts = [text for of_subject in background.values() for text in of_subject]
    assert len(texts) == len(set(texts)) == 704
    shipped = Shipped(attacks=Attacks(), everyday=())
    material = await gather(Policy(ClassPolicy("", CARDS), ClassPolicy()), shipped, (), ENCODER)
    assert len(material.background) == 704
