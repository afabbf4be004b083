"""Recall and precision against ground contexts, by id, document, text and distance; null contexts; by a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluation.answers.cases import Context
from evaluation.metrics import Score, Undetermined
from evaluation.metrics.asked_retrieval import AttributedRecall, UsefulPrecision
from evaluation.metrics.nothing_found import NullContext
from evaluation.metrics.retrieval import (
    ContextPrecision,
    ContextRecall,
    RankedContextPrecision,
    average_precision,
)
from tests.evaluation.metrics.scripted import answered, examiner

FEES = "The annual fee for a classic card is 30 euros, and it is charged to your account every January."
LIMITS = "You can withdraw at most 500 euros a day at our machines, and 1,000 euros at the counter."
OTHER = "Our branches are open from nine to five on weekdays and closed on public holidays."
GOMI = "粗大ごみの収集は、希望日の三日前までに電話またはインターネットで申し込んでください。"


def ids(*names: str) -> tuple[Context, ...]:
    return tuple(Context(f"text of {name}", name) for name in names)


@pytest.mark.parametrize(
    ("k", "recall", "precision"),
    [(None, 1.0, 0.5), (1, 0.0, 0.0), (2, 0.5, 0.5), (3, 0.5, 1 / 3), (4, 1.0, 0.5), (9, 1.0, 0.5)],
)
async def test_by_id_at_k(k: int | None, recall: float, precision: float) -> None:
    case = answered("x", contexts=ids("c", "a", "d", "b"), ground=ids("a", "b"))
    found, relevant = await ContextRecall(k).measure(case), await ContextPrecision(k).measure(case)
    assert isinstance(found, Score)
    assert isinstance(relevant, Score)
    assert (found.value, relevant.value) == (recall, pytest.approx(precision))
    assert found.steps == {"compared_by": "id", "found_at": [2, 4], "smallest_k": 4}


async def test_where_a_verified_entry_answered_nothing_had_to_be_retrieved() -> None:
    case = replace(answered("30 euros.", ground=(FEES,)), entry="fee")
    assert isinstance(await ContextRecall().measure(case), Undetermined)
    assert await ContextRecall().measure(replace(case, entry=None)) == Score(
        0.0, {"compared_by": "text", "found_at": [None], "smallest_k": None}
    )


async def test_duplicate_ids_count_once_and_what_is_missing_has_no_k() -> None:
    found = await ContextRecall().measure(answered("x", contexts=ids("a", "a"), ground=ids("a", "a", "b")))
    assert isinstance(found, Score)
    assert (found.value, found.steps["smallest_k"]) == (0.5, None)


async def test_by_document_chunks_count_for_their_document() -> None:
    case = answered("x", contexts=ids("faq.md#9", "fees.md#2"), ground=ids("fees.md#1"))
    found = await ContextRecall(by="document").measure(case)
    assert isinstance(found, Score)
    assert found.steps["smallest_k"] == 2
    by_id = await ContextRecall().measure(case)
    assert isinstance(by_id, Score)
    assert by_id.value == 0.0


@pytest.mark.parametrize(
    ("ground", "contexts", "recall", "precision"),
    [
        ((FEES,), (OTHER, FEES), 1.0, 0.5),
        ((FEES,), (f"Fees.\n{FEES.upper()}\nMore of it.",), 1.0, 1.0),  # within a longer passage, other case
        ((FEES,), (FEES[:50], FEES[50:]), 1.0, 1.0),  # cut into chunks
        ((FEES, LIMITS), (FEES, OTHER), 0.5, 0.5),
        ((FEES,), (OTHER, LIMITS), 0.0, 0.0),
        ((GOMI,), (GOMI.replace("三日", "3日"), OTHER), 1.0, 0.5),
        (("30 euros",), (FEES, OTHER), 1.0, 0.5),  # too short for runs of words
        (("Yes",), ("no",), 0.0, 0.0),
    ],
)
async def test_by_text(
    ground: tuple[str, ...], contexts: tuple[str, ...], recall: float, precision: float
) -> None:
    case = answered("x", contexts=contexts, ground=ground)
    found, relevant = await ContextRecall().measure(case), await ContextPrecision().measure(case)
    assert isinstance(found, Score)
    assert isinstance(relevant, Score)
    assert (found.value, relevant.value) == (recall, precision)
    assert found.steps["compared_by"] == "text"


async def test_ids_on_one_side_only_are_no_ids() -> None:
    found = await ContextRecall().measure(answered("x", contexts=(FEES,), ground=(Context(FEES, "fees"),)))
    assert isinstance(found, Score)
    assert (found.value, found.steps["compared_by"]) == (1.0, "text")


async def test_nothing_retrieved_and_nothing_to_find() -> None:
    nothing = await ContextRecall().measure(answered("x", ground=(FEES,)))
    assert isinstance(nothing, Score)
    assert nothing.value == 0.0
    assert isinstance(await ContextPrecision().measure(answered("x", ground=(FEES,))), Undetermined)
    assert isinstance(await ContextRecall().measure(answered("x", contexts=(FEES,))), Undetermined)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [([True], 1.0), ([False, True], 0.5), ([True, False, True], (1 + 2 / 3) / 2), ([False], 0.0), ([], 0.0)],
)
async def test_average_precision(relevant: list[bool], expected: float) -> None:
    assert average_precision(relevant) == pytest.approx(expected)
    names = [("a" if each else "z") + str(at) for at, each in enumerate(relevant)]
    if relevant:
        case = answered("x", contexts=ids(*names), ground=ids(*(n for n in names if n[0] == "a"), "b"))
        found = await RankedContextPrecision().measure(case)
        assert isinstance(found, Score)
        assert found.value == pytest.approx(expected)


def test_k_is_checked() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ContextRecall(0)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (answered("Ten yen.", answerable=True), 1.0),
        (answered("Ten yen.", answerable=False), 0.0),
        (answered("A person will answer.", answerable=False, is_answered=False), 1.0),
        (answered("A person will answer.", answerable=True, is_answered=False), 0.0),
        (answered("I'm sorry, I don't know.", answerable=False), 1.0),
        (answered("申し訳ありませんが、分かりません。", answerable=False, lang="ja"), 1.0),
        (answered("I don't know, but the fee is 10 yen.", answerable=False), 0.0),
        (answered("Ten yen."), None),
    ],
)
async def test_null_contexts_are_to_be_declined(case: Any, expected: float | None) -> None:
    found = await NullContext().measure(case)
    assert (found.value if isinstance(found, Score) else None) == expected


def attributions(*given: Any) -> dict[str, Any]:
    found = [{"statement": "s", "reason": "so", "attributed": each} for each in given]
    return {"classifications": found}


@pytest.mark.parametrize(("given", "expected"), [((1, 0, 1), 2 / 3), ((0,), 0.0), ((), None), ((2, 1), None)])
async def test_recall_by_a_model(given: tuple[int, ...], expected: float | None) -> None:
    metric = AttributedRecall(examiner({"attribution": [attributions(*given)]}))
    found = await metric.measure(answered("x", truth=FEES, contexts=(FEES,)))
    assert (found.value if isinstance(found, Score) else None) == expected


async def test_precision_by_a_model_needs_every_verdict() -> None:
    replies: dict[str, list[Any]] = {"usefulness": [{"reason": "so", "verdict": v} for v in (0, 1, 1)]}
    case = answered("x", truth=FEES, contexts=(OTHER, FEES, LIMITS))
    found = await UsefulPrecision(examiner(replies)).measure(case)
    assert isinstance(found, Score)
    assert found.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    replies["usefulness"][1] = "what?"
    assert isinstance(await UsefulPrecision(examiner(replies)).measure(case), Undetermined)
