"""Agreement with people, on judgements small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.agreement import figures


@pytest.mark.parametrize(
    ("found", "judged", "accuracy"),
    [
        ([0.3, -0.2, 0.5], [2, -1, 1], 1.0),
        ([-0.3, 0.2, -0.5], [2, -1, 1], 0.0),
        ([0.3, 0.0], [1, -1], 0.75),  # no preference is half right
        ([0.3, 0.9], [1, 0], 1.0),  # what people don't tell apart says nothing
    ],
)
def test_accuracy_counts_preferences(found: list[float], judged: list[float], accuracy: float) -> None:
    assert figures(np.array([found]).T, np.array([judged]).T)["accuracy"] == accuracy


def test_between_people_a_tie_of_either_is_left_out() -> None:
    one, other = np.array([[1.0], [0.0], [-1.0]]), np.array([[2.0], [1.0], [1.0]])
    assert figures(one, other, both=True)["accuracy"] == 0.5
