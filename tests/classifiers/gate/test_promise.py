"""The promise on refused must-questions: kept on average, and as often as stated, whatever the distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from classifiers.conformal import TooFew
from classifiers.gate.promise import GateCuts, HeldOut, Promise, keep_promise

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
        promise = keep_promise(
            held_out(*drawn(rng, n, shape)), error, fitted_suspicion=FITTED, least_scope=-9.0
        )
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
    assert keep_promise(
        held_out(*drawn(rng, n, "independent")), error, fitted_suspicion=FITTED, least_scope=-9.0
    ) == TooFew(n, needed)
    enough = keep_promise(
        held_out(*drawn(rng, needed, "independent")), error, fitted_suspicion=FITTED, least_scope=-9.0
    )
    assert isinstance(enough, Promise)


def test_a_forbidden_axis_that_suspects_too_many_is_loosened_to_its_share() -> None:
    scope, forbidden = np.linspace(0.31, 1, 999), np.linspace(0, 1, 999)
    promise = keep_promise(held_out(scope, forbidden), 0.02, fitted_suspicion=0.5, least_scope=0.3)
    assert isinstance(promise, Promise)
    assert promise.cuts.suspicious_from == pytest.approx(0.995, abs=0.001)  # 5 of the 20
    assert promise.cuts.scope == pytest.approx(scope[14])  # and 15 from below
    assert len(promise.refused) == 14 + 4  # the two that mark the cuts are inside


def test_a_forbidden_axis_that_suspects_nobody_leaves_everything_to_scope() -> None:
    scope = np.linspace(0.31, 1, 999)
    promise = keep_promise(held_out(scope, np.zeros(999)), 0.02, fitted_suspicion=0.6, least_scope=0.3)
    assert isinstance(promise, Promise)
    assert promise.cuts == GateCuts(scope=pytest.approx(scope[19]), suspicious_from=0.6)


def test_what_a_rule_refuses_counts_against_the_promise() -> None:
    scope = np.linspace(0.31, 1, 99)
    free = keep_promise(held_out(scope, np.zeros(99)), 0.05, fitted_suspicion=0.6, least_scope=0.3)
    scope[50:52] = -np.inf
    bound = keep_promise(held_out(scope, np.zeros(99)), 0.05, fitted_suspicion=0.6, least_scope=0.3)
    assert isinstance(free, Promise)
    assert isinstance(bound, Promise)
    assert bound.kept
    assert bound.cuts.scope < free.cuts.scope  # fewer are left for scope to refuse


def test_scope_is_not_opened_to_everything_for_a_few_strange_questions() -> None:
    scope = np.linspace(0.31, 1, 99)
    scope[:4] = 0.01
    promise = keep_promise(held_out(scope, np.zeros(99)), 0.02, fitted_suspicion=0.6, least_scope=0.3)
    assert isinstance(promise, Promise)
    assert not promise.kept
    assert (promise.cuts.scope, promise.needed) == (0.3, 0.01)
    assert len(promise.refused) == 4
    assert promise.on_average == 0.05  # 4 of 99, and the next one
    assert promise.at_most > 0.08


def test_a_promise_that_is_not_kept_says_how_much_is_refused_as_often_as_stated() -> None:
    """The forbidden axis is loosened by its questions, scope is held at its least: both are counted."""
    rng, n, strange, suspected = np.random.default_rng(4), 199, 0.1, 0.05
    within = []
    for _ in range(1_000):
        scope = np.where(rng.random(n) < strange, 0.0, 1.0)
        forbidden = np.where(rng.random(n) < suspected, rng.uniform(0.5, 1.0, n), 0.0)
        promise = keep_promise(held_out(scope, forbidden), 0.02, fitted_suspicion=0.5, least_scope=0.3)
        assert isinstance(promise, Promise)
        assert not promise.kept
        passing = (1 - strange) * (1 - suspected * (1 - promise.cuts.suspicious_from) / 0.5)
        within.append(1 - passing <= promise.at_most)
    assert np.mean(within) >= 0.95
