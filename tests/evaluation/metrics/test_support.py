"""What misled an answer, what its citations are worth, and whether its labels are right."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.metrics import Score, Undetermined
from evaluation.metrics.citations import CitationSupport
from evaluation.metrics.labels import LabelAccuracy
from evaluation.metrics.noise import NoiseRobustness
from evaluation.metrics.statements import AskedStatements, LocalStatements
from tests.evaluation.metrics.scripted import answered, examiner, split, verdicts

# Verdicts in the order they are asked for: truth and answer for each context, then answer against truth.
SAID = ("The branch opens at ten.", "The card costs 50 euros.", "Dogs may come in.")
EXPECTED = "The branch opens at ten."
MATRIX = [verdicts(1), verdicts(1, 1, 0), verdicts(0), verdicts(0, 1, 1), verdicts(1, 0, 0)]


@pytest.mark.parametrize(("mode", "expected"), [("relevant", 2 / 3), ("irrelevant", 2 / 3)])
async def test_wrong_statements_count_by_the_contexts_that_have_them(mode: Any, expected: float) -> None:
    replies = {"statements": [split(EXPECTED), split(*SAID)], "verdicts": MATRIX}
    metric = NoiseRobustness(AskedStatements(examiner(replies)), mode=mode)
    found = await metric.measure(answered(" ".join(SAID), truth=EXPECTED, contexts=("one", "two")))
    assert isinstance(found, Score)
    assert found.value == pytest.approx(expected)
    misled = [each["statement"] for each in found.steps["statements"] if each["misled"]]
    assert misled == ([SAID[1]] if mode == "relevant" else [SAID[2]])
    assert found.steps["relevant_contexts"] == [True, False]


@pytest.mark.parametrize("replies", [
    {"statements": [split(), split()]},
    {"statements": [split(EXPECTED), split(SAID[0])], "verdicts": [verdicts()]},
    {"statements": [split(EXPECTED), split(*SAID)], "verdicts": [verdicts(1), verdicts(1)]},
])  # fmt: skip
async def test_noise_without_statements_or_with_too_few_verdicts_is_undetermined(
    replies: dict[str, Any],
) -> None:
    metric = NoiseRobustness(AskedStatements(examiner(replies)))
    truth = EXPECTED if len(replies) > 1 else "Hello!"
    case = answered(" ".join(SAID), truth=truth, contexts=("one",))
    assert isinstance(await metric.measure(case), Undetermined)


FEE, LIMIT = "The annual fee is 30 euros.", "You can withdraw at most 500 euros a day."


async def test_local_noise_names_what_a_wrong_passage_said() -> None:
    case = answered(
        f"The annual fee is 30 euros. {LIMIT}",
        truth=FEE,
        contexts=(FEE, LIMIT),
        question="What is the annual fee?",
    )
    relevant = await NoiseRobustness(LocalStatements()).measure(case)
    irrelevant = await NoiseRobustness(LocalStatements(), mode="irrelevant").measure(case)
    assert isinstance(relevant, Score)
    assert isinstance(irrelevant, Score)
    assert (relevant.value, irrelevant.value) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("answer", "recall", "precision"),
    [
        ("The annual fee is 30 euros [1]. You can withdraw at most 500 euros a day [2].", 1.0, 1.0),
        ("The annual fee is 30 euros [2]. You can withdraw at most 500 euros a day [2].", 0.5, 0.5),
        ("The annual fee is 30 euros. You can withdraw at most 500 euros a day [2].", 0.5, 1.0),
        ("The annual fee is 30 euros [1][2].", 1.0, 0.5),
        ("The annual fee is 30 euros [1, 2].", 1.0, 0.5),
        ("The annual fee is 30 euros [7].", 0.0, 0.0),
        ("The annual fee is 30 euros.", 0.0, None),
        ("The annual fee is 30 euros, and you can withdraw at most 500 euros a day [1, 2].", 1.0, 0.5),
        ("Hello!", None, None),
    ],
)  # fmt: skip
async def test_claims_are_cited_and_stand_there(
    answer: str, recall: float | None, precision: float | None
) -> None:
    case = answered(answer, contexts=(FEE, LIMIT))
    for side, expected in (("recall", recall), ("precision", precision)):
        found = await CitationSupport(LocalStatements(), side=side).measure(case)
        assert (found.value if isinstance(found, Score) else None) == expected, side


async def test_japanese_marks() -> None:
    case = answered("年会費は3000円です【1】。", contexts=("年会費は3000円です。",), lang="ja")
    found = await CitationSupport(LocalStatements()).measure(case)
    assert isinstance(found, Score)
    assert found.value == 1.0


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ("cards, fees", "Fees; Cards", 1.0),
        ("- cards\n- fees", "cards", 0.5),
        ("手数料、カード", "カード", 0.5),
        ("loans", "cards", 0.0),
    ],
)
async def test_labels_are_sets(answer: str, truth: str, expected: float) -> None:
    found = await LabelAccuracy().measure(answered(answer, truth=truth))
    assert isinstance(found, Score)
    assert (found.value, found.steps["exact"]) == (expected, expected == 1.0)


async def test_what_is_no_label_is_no_answer_in_labels() -> None:
    metric = LabelAccuracy(["cards", "fees"])
    assert isinstance(await metric.measure(answered("I think it is cards", truth="cards")), Undetermined)
    assert isinstance(await metric.measure(answered("CARDS", truth="cards")), Score)
