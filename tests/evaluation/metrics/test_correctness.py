"""Answer correctness: golden vectors, which errors weigh more, and where false statements come from."""

from __future__ import annotations

from typing import Any

import pytest

from encoders.testing import HashingEncoder
from evaluation.metrics import Score, Undetermined
from evaluation.metrics.correctness import AnswerCorrectness, AskedFactuality, LocalFactuality, f_beta
from evaluation.metrics.statements import LocalStatements
from tests.evaluation.metrics.scripted import answered, classes, examiner, split, verdicts

SAID = ["The branch opens at nine.", "The card costs 30 euros.", "The card has a chip."]
EXPECTED = [
    "The branch opens at nine o'clock.", "The card costs 30 euros a year.", "The machine takes coins.",
    "Parking is free.", "Dogs may come in.",
]  # fmt: skip
TRUTH = "The annual fee is 30 euros. It is charged in January."


def asked(replies: dict, **how: float) -> AnswerCorrectness:
    return AnswerCorrectness(AskedFactuality(examiner(replies)), HashingEncoder(), weights=(1.0, 0.0), **how)


def local(**how: Any) -> AnswerCorrectness:
    return AnswerCorrectness(LocalFactuality(LocalStatements()), HashingEncoder(), **how)


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "beta", "expected"),
    [
        (2, 1, 2, 1.0, 0.5714),
        (2, 1, 2, 2.0, 0.5263),
        (2, 1, 2, 0.5, 0.6250),
        (1, 1, 1, 1.0, 0.5),
        (1, 1, 1, 2.0, 0.5),
        (1, 1, 1, 0.5, 0.5),
        (0, 2, 3, 1.0, 0.0),
        (2, 0, 0, 1.0, 1.0),
    ],
)
async def test_golden_vectors_of_f_beta(tp: int, fp: int, fn: int, beta: float, expected: float) -> None:
    said, expected_statements = SAID[: tp + fp], EXPECTED[: max(1, tp + fn)]
    replies = {
        "statements": [split(*said), split(*expected_statements)],
        "correctness": [classes(tp, fp, fn)],
    }
    found = await asked(replies, beta=beta).measure(
        answered(" ".join(said), truth=" ".join(expected_statements))
    )
    assert isinstance(found, Score)
    assert found.value == pytest.approx(expected, abs=1e-4)


def test_f_beta_of_nothing_is_0() -> None:
    assert f_beta(0.0, 0.0) == 0.0


async def test_weights_are_a_mean() -> None:
    statements = [split(*TRUTH.split(". "))] * 2
    replies = {"statements": statements, "correctness": [classes(1, 1, 0)]}
    metric = AnswerCorrectness(AskedFactuality(examiner(replies)), HashingEncoder(), weights=(3, 1))
    found = await metric.measure(answered(TRUTH, truth=TRUTH))
    assert isinstance(found, Score)
    assert found.steps["similarity"] == pytest.approx(1.0)
    assert found.value == pytest.approx((3 * 2 / 3 + 1) / 4)


@pytest.mark.parametrize(("weights", "beta"), [((0, 0), 1.0), ((-1, 2), 1.0), ((1, 1), 0.0)])
def test_weights_and_beta_are_checked(weights: tuple[float, float], beta: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        AnswerCorrectness(LocalFactuality(LocalStatements()), HashingEncoder(), weights=weights, beta=beta)


async def test_an_answer_without_statements_has_said_nothing_right() -> None:
    replies = {"statements": [split(), split(*EXPECTED[:2])]}
    found = await asked(replies).measure(answered("Hello!", truth=" ".join(EXPECTED[:2])))
    assert isinstance(found, Score)
    assert found.value == 0.0
    assert found.steps["false_negatives"] == EXPECTED[:2]


@pytest.mark.parametrize(
    ("said", "expected", "found_classes", "reason"),
    [
        (1, 0, (1, 0, 0), "the ground truth makes no statement"),
        (0, 0, (0, 0, 0), "the ground truth makes no statement"),
        (2, 1, (1, 0, 0), "1 of 2 statements"),
        (1, 1, (1, 1, 0), "2 of 1 statements"),
        (1, 1, (0, 0, 0), "0 of 1 statements"),
        (1, 1, (1, 0, 2), "2 as missing of 1"),
    ],
)
async def test_what_does_not_add_up_is_undetermined(
    said: int, expected: int, found_classes: tuple[int, int, int], reason: str
) -> None:
    statements = [split(*SAID[:said]), split(*EXPECTED[:expected])]
    replies = {"statements": statements, "correctness": [classes(*found_classes)]}
    case = answered(" ".join(SAID[:said]) or "Hello!", truth=" ".join(EXPECTED[:expected]) or "Hello!")
    found = await asked(replies).measure(case)
    assert isinstance(found, Undetermined)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (answered("An answer."), "the case has no ground truth"),
        (answered("", truth=TRUTH), "there is no answer"),
        (answered("We will answer you.", truth=TRUTH, is_answered=False), "there is no answer"),
        (answered("手数料は年間三十ユーロで一月に請求されます。", truth=TRUTH), "two languages"),
        (answered("An answer.", truth="…!"), "the ground truth makes no statement"),
    ],
)
async def test_local_what_cannot_be_compared_is_undetermined(case, reason: str) -> None:
    found = await local().measure(case)
    assert isinstance(found, Undetermined)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("right", "wrong", "truth", "lang"),
    [
        (
            "The yearly fee is 30 euros, charged in January.",
            "The annual fee is 50 euros. It is charged in June.",
            TRUTH,
            "en",
        ),
        (
            "The fee of 30 euros is charged in January.",
            "The card is made of plastic and has a chip.",
            TRUTH,
            "en",
        ),
        ("The annual fee is 30 euros. It is charged in January.", "I don't know.", TRUTH, "en"),
        (
            "年会費は3000円で、1月に請求されます。",
            "年会費は5000円で、6月に請求されます。",
            "年会費は3000円です。請求は1月です。",
            "ja",
        ),
        ("年费为300元，一月收取。", "年费为500元，六月收取。", "年费是300元。每年一月收取。", "zh"),
        ("42", "43", "42", "en"),
    ],
)
async def test_local_a_right_answer_is_above_a_wrong_one(
    right: str, wrong: str, truth: str, lang: str
) -> None:
    high = await local().measure(answered(right, truth=truth, lang=lang))
    low = await local().measure(answered(wrong, truth=truth, lang=lang))
    assert isinstance(high, Score)
    assert isinstance(low, Score)
    assert high.value > low.value + 0.05


@pytest.mark.parametrize(
    ("answer", "truth", "lang"),
    [
        ("500円です", "300円です", "ja"),
        ("プールの料金は500円です。", "プールの料金は300円です。", "ja"),
        ("年费是500元。", "年费是300元。", "zh"),
        ("The annual fee is 50 euros.", "The annual fee is 30 euros.", "en"),
    ],
)
async def test_local_an_answer_that_the_ground_truth_contradicts_is_not_said(
    answer: str, truth: str, lang: str
) -> None:
    metric = local(weights=(1.0, 0.0))
    found = await metric.measure(answered(answer, truth=truth, lang=lang))
    assert isinstance(found, Score)
    assert found.value < 0.5
    assert (found.steps["true_positives"], found.steps["false_negatives"]) == ([], [truth])
    right = await metric.measure(answered(truth, truth=truth, lang=lang))
    assert isinstance(right, Score)
    assert right.value > 0.9


async def test_local_beta_says_whether_wrong_or_missing_weighs_more() -> None:
    short = answered("The annual fee is 30 euros.", truth=TRUTH)
    strict, complete = await local(beta=0.5).measure(short), await local(beta=2.0).measure(short)
    assert isinstance(strict, Score)
    assert isinstance(complete, Score)
    assert strict.value > complete.value
    assert complete.steps["false_negatives"] == ["It is charged in January."]


async def test_false_positives_are_looked_for_in_the_contexts() -> None:
    case = answered(
        "The annual fee is 30 euros. The card is valid for four years. Penguins in Antarctica pay 900 dollars.",
        truth=TRUTH,
        contexts=(TRUTH, "The card is valid for four years from the day it was issued."),
    )
    found = await local().measure(case)
    assert isinstance(found, Score)
    origins = {each["statement"]: each["from"] for each in found.steps["false_positives"]}
    assert origins == {
        "The card is valid for four years.": "contexts",
        "Penguins in Antarctica pay 900 dollars.": "invented",
    }


async def test_without_contexts_or_verdicts_the_origin_is_unknown_and_the_score_stands() -> None:
    replies = {
        "statements": [split(*SAID[:2]), split(EXPECTED[0])],
        "correctness": [classes(1, 1, 0)],
        "verdicts": [verdicts()],
    }
    for contexts in ((), ("Some context.",)):
        case = answered(" ".join(SAID[:2]), truth=EXPECTED[0], contexts=contexts)
        found = await asked(replies).measure(case)
        assert isinstance(found, Score)
        assert found.steps["false_positives"] == [{"statement": "wrong0", "from": "unknown"}]
        assert ("origins" in found.steps) is bool(contexts)
