"""Rates, intervals and rankings against values worked out by hand or published."""

from __future__ import annotations

import pytest

from evaluation.statistics import Rate, auroc, auroc_within_group, percentiles, recall_at_false_positive_rate


def test_wilson_interval_of_no_success_in_ten() -> None:
    low, high = Rate(0, 10).ci95 or (1.0, 1.0)
    assert low == pytest.approx(0.0)
    assert high == pytest.approx(0.2775, abs=1e-4)  # Wilson 1927, as in every table of it


def test_no_cases_are_no_rate() -> None:
    assert (Rate(0, 0).value, Rate(0, 0).ci95, str(Rate(0, 0))) == (None, None, "– (0 cases)")


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [([3, 4], [1, 2], 1.0), ([1, 2], [3, 4], 0.0), ([1], [1], 0.5), ([2, 2], [1, 3], 0.5), ([], [1], None)],
)
def test_auroc_counts_pairs_and_halves_ties(
    positive: list[float], negative: list[float], expected: float | None
) -> None:
    assert auroc(positive, negative) == expected


def test_within_a_group_knowing_the_group_helps_nobody() -> None:
    scores, positive, groups = [9.0, 8.0, 1.0, 2.0], [True, True, False, False], ["a", "a", "b", "b"]
    assert auroc_within_group(scores, positive, groups) is None
    assert auroc_within_group([2.0, 1.0, 1.0, 2.0], [True, False, True, False], groups) == 0.5


def test_recall_is_read_where_the_false_positives_are_few_enough() -> None:
    negative = [step / 100 for step in range(100)]
    assert recall_at_false_positive_rate([0.93, 0.95, 0.99], negative, 0.05) == pytest.approx(2 / 3)
    assert recall_at_false_positive_rate([], negative, 0.05) is None


def test_percentiles_of_nothing_are_nought() -> None:
    assert percentiles([]) == {"p50": 0.0, "p95": 0.0}
    assert percentiles([1, 2, 3]) == {"p50": 2.0, "p95": 2.9}
