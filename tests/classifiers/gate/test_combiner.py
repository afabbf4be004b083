"""From evidence to a score, and the promise of the cut."""

from __future__ import annotations

import numpy as np
import pytest

from classifiers.gate.combiner import Combiner, conformal_floor, enough_for

RULE = Combiner(np.array([2.0, -2.0]), np.array([0.5, 0.5]))


def test_evidence_that_could_not_be_looked_for_counts_for_nothing() -> None:
    assert RULE.scores(np.array([[np.nan, np.nan]])) == pytest.approx([0.5])


def test_examples_pull_the_weights_away_from_the_rule() -> None:
    rng = np.random.default_rng(1)
    truth = np.arange(400) < 200
    features = rng.normal(0.5, 0.1, (400, 2))
    features[truth, 0] += 0.4  # only the first piece of evidence tells them apart
    fitted = RULE.fitted(features, truth, stiffness=0.02)
    assert fitted.weights[0] > 4
    assert abs(fitted.weights[1]) < 2
    assert (fitted.scores(features) > 0.5)[truth].mean() > 0.95


def test_no_piece_of_evidence_changes_sides() -> None:
    truth = np.arange(40) < 20
    features = np.column_stack(
        [np.where(truth, 0.1, 0.9), np.full(40, 0.5)]
    )  # chance, against all expectation
    assert RULE.fitted(features, truth, stiffness=0.02).weights[0] == 0.0


def test_without_examples_to_the_contrary_a_stiff_rule_stays() -> None:
    features = np.array([[0.9, 0.1], [0.1, 0.9]])
    fitted = RULE.fitted(features, np.array([True, False]), stiffness=1e6)
    assert fitted.weights == pytest.approx(RULE.weights, abs=1e-3)


@pytest.mark.parametrize(("error", "enough"), [(0.02, 49), (0.05, 19), (0.01, 99)])
def test_a_promise_needs_examples(error: float, enough: int) -> None:
    assert enough_for(error) == enough
    assert conformal_floor(np.linspace(0, 1, enough), error) == 0.0
    assert conformal_floor(np.linspace(0, 1, enough - 1), error) is None


def test_the_promise_is_kept_on_questions_not_seen() -> None:
    rng = np.random.default_rng(0)
    missed = []
    for _ in range(300):
        scores = rng.beta(5, 2, 400)
        cut = conformal_floor(scores[:200], 0.05)
        assert cut is not None
        missed.append((scores[200:] < cut).mean())
    assert np.mean(missed) <= 0.053  # 10 of 201, and the noise of 300 trials
