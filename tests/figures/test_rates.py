"""Wilson's interval, against SciPy's."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from gateway.figures.rates import Rate


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (1, 1000), (499, 1000)])
def test_the_interval_is_wilsons(count: int, n: int) -> None:
    expected = binomtest(count, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert Rate(count, n).ci95 == pytest.approx((expected.low, expected.high), abs=1e-9)
