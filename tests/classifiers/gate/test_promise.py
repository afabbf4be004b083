"""The promise on refused must-questions: kept on average, and as often as stated, whatever the distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from classifiers.gate.promise import GateCuts, HeldOut, Promise, TooFew, Unkeepable, keep_promise

FITTED = 0.95
Floats = NDArray[np.float64]


def drawn(rng: np.random.Generator, n: int, shape: str) -> tuple[Floats, Floats]:
    """Scope and suspicion of questions: independent, dependent, or of two kinds of asker."""
    common, noise = rng.normal(size=(2, n))
    match shape:
        case "independent":
            scope, forbidden = common, noise
        case "dependent":
            scope, forbidden = common, noise / 2 - common
        case _:
            strange = rng.random(n) < 0.05
            scope, forbidden = common - 4 * strange, noise + 3 * strange
    return scope, 1 / (1 + np.exp(2 - forbidden))


def held_out(scope: Floats, forbidden: Floats) -> list[HeldOut]:
    return [
        HeldOut(text="", scope=float(s), forbidden=float(f)) for s, f in zip(scope, forbidden, strict=True)
    ]


def refused(cuts: GateCuts, scope: Floats, forbidden: Floats) -> float:
    return float(np.mean((scope < cuts.scope) | (forbidden >= cuts.suspicious_from)))


@pytest.mark.parametrize("shape", ["independent", "dependent", "two kinds"])
@pytest.mark.parametrize(("n", "error"), [(99, 0.02), (150, 0.02), (120, 0.05), (400, 0.02)])
def test_the_promise_is_kept_on_new_questions(shape: str, n: int, error: float) -> None:
    rng = np.random.default_rng(1)
    new = drawn(rng, 20_000, shape)
    rates, within = [], []
    for _ in range(400):
        promise = keep_promise(held_out(*drawn(rng, n, shape)), error, fitted_suspicion=FITTED)
        assert isinstance(promise, Promise)
        rates.append(refused(promise.cuts, *new))
        within.append(rates[-1] <= promise.at_most)
    error_of_mean = np.std(rates) / math.sqrt(len(rates))
    assert np.mean(rates) <= error + 3 * error_of_mean
    assert np.mean(rates) >= error / 3  # and not by refusing next to nobody
    assert np.mean(within) >= 0.95 - 0.035  # three standard errors of a share out of 400


def test_cuts_at_the_very_worst_questions_would_break_it() -> None:
    """That the simulation can tell: cuts chosen on the questions they are measured by look better than they are."""
    rng = np.random.default_rng(2)
    new = drawn(rng, 20_000, "dependent")
    rates = []
    for _ in range(400):
        scope, forbidden = drawn(rng, 60, "dependent")
        cuts = GateCuts(scope=float(np.sort(scope)[1]), suspicious_from=float(np.sort(forbidden)[-1]))
        assert refused(cuts, scope, forbidden) <= 0.05  # which would look like a promise of 2 in 60
        rates.append(refused(cuts, *new))
    assert np.mean(rates) > 0.035


@pytest.mark.parametrize(
    ("n", "error", "needed"), [(0, 0.02, 49), (48, 0.02, 49), (18, 0.05, 19), (98, 0.01, 99)]
)
def test_too_few_questions_promise_nothing_and_say_how_many_are_needed(
    n: int, error: float, needed: int
) -> None:
    rng = np.random.default_rng(3)
    assert keep_promise(held_out(*drawn(rng, n, "independent")), error, fitted_suspicion=FITTED) == TooFew(
        n, needed
    )
    enough = keep_promise(held_out(*drawn(rng, needed, "independent")), error, fitted_suspicion=FITTED)
    assert isinstance(enough, Promise)


def test_both_axes_get_their_share() -> None:
    rng = np.random.default_rng(4)
    promise = keep_promise(held_out(*drawn(rng, 999, "independent")), 0.02, fitted_suspicion=FITTED)
    assert isinstance(promise, Promise)
    assert (promise.for_forbidden, promise.for_scope) == (5, 15)


def test_a_forbidden_axis_that_suspects_nobody_is_tightened_by_half_at_most() -> None:
    scope = np.linspace(0, 1, 200)
    promise = keep_promise(held_out(scope, np.full(200, 0.01)), 0.02, fitted_suspicion=0.6)
    assert isinstance(promise, Promise)
    assert promise.cuts.suspicious_from == pytest.approx(0.3)


def test_what_a_rule_refuses_counts_against_the_promise() -> None:
    scope = np.linspace(0.1, 1, 99)
    free = keep_promise(held_out(scope, np.zeros(99)), 0.05, fitted_suspicion=0.6)
    scope[50:52] = -np.inf
    bound = keep_promise(held_out(scope, np.zeros(99)), 0.05, fitted_suspicion=0.6)
    assert isinstance(free, Promise)
    assert isinstance(bound, Promise)
    assert bound.cuts.scope < free.cuts.scope  # fewer are left for scope to refuse
    scope[52:60] = -np.inf
    broken = keep_promise(held_out(scope, np.zeros(99)), 0.05, fitted_suspicion=0.6)
    assert isinstance(broken, Unkeepable)
    assert (len(broken.refused), broken.allowed) == (10, 3)


def test_with_questions_for_one_axis_the_other_stays_as_fitted() -> None:
    scope, forbidden = np.linspace(0.1, 1, 60), np.zeros(60)
    promise = keep_promise(held_out(scope, forbidden), 0.02, fitted_suspicion=0.6)
    assert isinstance(promise, Promise)
    assert (promise.for_scope, promise.for_forbidden, promise.cuts.suspicious_from) == (1, 0, 0.6)
    forbidden[10] = 0.7
    assert isinstance(keep_promise(held_out(scope, forbidden), 0.02, fitted_suspicion=0.6), Unkeepable)
