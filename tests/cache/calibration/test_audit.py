"""The limits hold as often as they say, also for who looks after every verdict; and they are not idle."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.calibration import upper_bound
from cache.calibration.audit import (
    ALPHA,
    Audited,
    anytime_lower,
    anytime_upper,
    bound_of,
    capital_above,
    capital_below,
    exceeds,
    supported_cut,
)

RUNS = 2_000
NOMINAL = 0.94  # of 2,000 runs that hold with 95 %, fewer hold once in fifty tries

upper = cache(anytime_upper)
lower = cache(anytime_lower)
once = cache(lambda wrong, n: upper_bound(wrong, n))


def verdicts(rate: float, n: int, *, seed: int) -> np.ndarray:
    """How many were wrong so far, of shape (RUNS, n)."""
    return np.cumsum(np.random.default_rng(seed).random((RUNS, n)) < rate, axis=1)


@pytest.mark.parametrize("rate", [0.005, 0.03, 0.2])
def test_the_limits_hold_at_all_looks_together(rate: float) -> None:
    held_above = held_below = 0
    for run in verdicts(rate, 300, seed=1):
        looks = list(enumerate(run.tolist(), start=1))
        held_above += min(upper(wrong, n, ALPHA) for n, wrong in looks) >= rate
        held_below += max(lower(wrong, n, ALPHA) for n, wrong in looks) <= rate
    assert held_above >= NOMINAL * RUNS
    assert held_below >= NOMINAL * RUNS


def test_a_limit_made_for_one_look_does_not_hold_for_who_looks_all_the_time() -> None:
    runs = verdicts(0.03, 400, seed=2)
    held_at_the_end = sum(once(wrong, 400) >= 0.03 for wrong in runs[:, -1].tolist())
    held_always = sum(
        min(once(wrong, n) for n, wrong in enumerate(run.tolist(), start=1)) >= 0.03 for run in runs
    )
    assert held_at_the_end >= NOMINAL * RUNS
    assert held_always < 0.9 * RUNS


@pytest.mark.parametrize(
    ("hit_rate", "wrong_share", "audit_rate"), [(0.5, 0.02, 0.05), (0.2, 0.1, 0.3), (0.9, 0.01, 1.0)]
)
def test_the_bound_per_request_holds_on_exchangeable_questions(
    hit_rate: float, wrong_share: float, audit_rate: float
) -> None:
    draw = np.random.default_rng(3)
    requests = 4_000
    held = held_at_one_look = 0
    for _ in range(RUNS):
        hits = int(draw.binomial(requests, hit_rate))
        judged = int(draw.binomial(hits, audit_rate))
        wrong = int(draw.binomial(judged, wrong_share))
        bound = bound_of(Audited(requests=requests, hits=hits, right=judged - wrong, wrong=wrong))
        held += bound.lower <= hit_rate * wrong_share <= bound.upper
        held_at_one_look += hit_rate * wrong_share <= bound.upper_at_one_look
    assert held >= NOMINAL * RUNS
    assert held_at_one_look >= NOMINAL * RUNS


def test_serving_that_just_keeps_its_target_is_seldom_accused_however_often_one_looks() -> None:
    draw = np.random.default_rng(4)
    accused = 0
    for _ in range(RUNS // 4):
        hits = np.cumsum(draw.random(3_000) < 0.5)
        wrong = np.cumsum(draw.random(3_000) < 0.02)  # of the audited hits; the target is 0.5 * 0.02
        looks = range(100, 3_000, 200)
        accused += any(
            exceeds(
                Audited(
                    requests=n, hits=int(hits[n]), wrong=int(wrong[n // 4]), right=n // 4 - int(wrong[n // 4])
                ),
                0.01,
            )
            for n in looks
        )
    assert accused <= (1 - NOMINAL) * RUNS // 4


def test_serving_that_is_far_over_its_target_is_found_out() -> None:
    draw = np.random.default_rng(5)
    found = []
    for _ in range(100):
        wrong = np.cumsum(draw.random(200) < 0.1).tolist()  # 5 % of requests, five times the target
        found.append(
            next(
                (
                    n
                    for n in range(10, 200, 5)
                    if exceeds(
                        Audited(requests=40 * n, hits=20 * n, wrong=wrong[n - 1], right=n - wrong[n - 1]),
                        0.01,
                    )
                ),
                math.inf,
            )
        )
    assert np.median(found) <= 80
    assert np.quantile(found, 0.9) <= 200


def test_the_cut_that_the_audits_support_keeps_the_target() -> None:
    """Scores are uniform on [0.5, 1); above a score s, 0.2 * (1 - s)^2 of the hits are wrong ones."""
    draw = np.random.default_rng(6)
    hit_rate, target = 0.5, 0.01
    kept = found = 0
    for _ in range(500):
        scores = 0.5 + draw.random(600) / 2
        wrong = draw.random(600) < 0.4 * (1 - scores) * 0.5
        judged = list(zip(scores.tolist(), (~wrong).tolist(), strict=True))
        cut = supported_cut(judged, requests=20_000, hits=10_000, target_error=target)
        found += cut is not None
        # P(hit, score >= cut, wrong) = hit_rate * integral of 0.2 * (1 - s) * 2 from cut to 1
        kept += cut is None or hit_rate * 0.2 * (1 - max(cut, 0.5)) ** 2 <= target
    assert found >= 400
    assert kept >= NOMINAL * 500


def test_a_supported_cut_lies_just_above_a_doubted_hit() -> None:
    judged = [(0.9, True)] * 400 + [(0.85, False), (0.8, False)]
    counts = {"requests": 10_000, "hits": 5_000}
    strict, loose = (supported_cut(judged, **counts, target_error=target) for target in (0.0075, 0.01))
    assert strict == math.nextafter(0.85, 1)
    assert loose == math.nextafter(0.8, 1)
    assert supported_cut(judged, **counts, target_error=0.1) == 0.0
    assert supported_cut(judged[:20], **counts, target_error=0.0075) is None


def test_who_is_unsure_accuses_nobody_and_acquits_nobody() -> None:
    right, unsure = (
        bound_of(Audited(requests=1_000, hits=500, right=right, unsure=20 - right)) for right in (20, 10)
    )
    assert unsure.upper > right.upper
    assert unsure.upper_at_one_look > right.upper_at_one_look
    assert (unsure.lower, unsure.estimate) == (0.0, 0.0)


def test_without_verdicts_nothing_is_claimed() -> None:
    bound = bound_of(Audited(requests=0, hits=0))
    assert (bound.estimate, bound.upper, bound.upper_at_one_look, bound.lower) == (None, 1.0, 1.0, 0.0)
    assert bound_of(Audited(requests=1_000, hits=100)).upper == pytest.approx(0.15, abs=0.02)


@given(counts=st.integers(1, 5_000), hit_share=st.floats(0, 1), n=st.integers(1, 300), share=st.floats(0, 1))
def test_serving_is_accused_exactly_where_the_lower_limit_passes_the_target(
    counts: int, hit_share: float, n: int, share: float
) -> None:
    wrong = round(share * n)
    audited = Audited(requests=counts, hits=round(hit_share * counts), right=n - wrong, wrong=wrong)
    limit = bound_of(audited).lower
    assert not exceeds(audited, limit * 1.001 + 1e-9)
    assert limit < 1e-6 or exceeds(audited, limit * 0.999)


@given(n=st.integers(1, 3_000), share=st.floats(0, 1))
def test_the_observed_rate_lies_between_the_limits(n: int, share: float) -> None:
    count = round(share * n)
    assert anytime_lower(count, n, ALPHA) <= count / n <= anytime_upper(count, n, ALPHA)
    assert anytime_upper(count, n, ALPHA) >= upper_bound(count, n)


def test_more_wrong_is_never_better_and_more_right_is_never_worse() -> None:
    assert all(one < other for one, other in pairwise(upper(wrong, 200, ALPHA) for wrong in range(200)))
    assert all(one > other for one, other in pairwise(upper(1, n, ALPHA) for n in range(2, 200)))


@pytest.mark.parametrize("rate", [0.003, 0.2, 0.9])
def test_a_bet_at_fair_odds_gains_nothing_on_average(rate: float) -> None:
    for n in (0, 1, 30, 100):
        for count in {n // 10, n // 4}:
            for capital in (capital_above, capital_below):
                now = capital(count, n, rate)
                won, lost = (math.exp(capital(count + more, n + 1, rate) - now) for more in (1, 0))
                assert rate * won + (1 - rate) * lost == pytest.approx(1, rel=1e-6)


def test_a_million_requests_are_counted_as_exactly_as_ten() -> None:
    assert anytime_upper(500_000, 1_000_000, ALPHA) == pytest.approx(0.502, abs=5e-4)
    assert anytime_lower(0, 1_000_000, ALPHA) == 0.0
    assert anytime_upper(1_000_000, 1_000_000, ALPHA) == 1.0
