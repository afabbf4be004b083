"""From evidence to a score, and the promise of the cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import gumbel_l, logistic, norm, t
from scipy.stats.distributions import rv_frozen

from classifiers.conformal import least_cases
from classifiers.gate.combiner import Combiner, conformal_floor, tail_floor

RULE = Combiner(np.array([2.0, -2.0]), np.array([0.5, 0.5]))


def test_evidence_that_could_not_be_looked_for_counts_for_nothing() -> None:
    assert RULE.scores(np.array([[np.nan, np.nan]])) == pytest.approx([0.5])


def test_what_weighs_nothing_stays_without_weight() -> None:
    truth = np.arange(40) < 20
    features = np.column_stack([np.where(truth, 0.9, 0.1), np.where(truth, 0.9, 0.1)])
    rule = Combiner(np.array([2.0, 0.0]), np.array([0.5, 0.5]))
    assert rule.fitted(features, truth, stiffness=0.02).weights[1] == 0.0


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
    assert least_cases(error) == enough
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


@pytest.mark.parametrize(
    ("logits", "most"),
    [
        pytest.param(norm(2, 1.2), 0.02, id="normal"),
        pytest.param(logistic(2, 0.8), 0.021, id="logistic"),
        pytest.param(gumbel_l(2, 1), 0.022, id="skewed"),
        pytest.param(t(3, 2, 1), 0.024, id="three degrees of freedom"),
    ],
)
@pytest.mark.parametrize("count", [50, 100, 200])
def test_the_tail_keeps_the_promise_and_is_steadier_than_a_rank(
    logits: rv_frozen, most: float, count: int
) -> None:
    refused: dict[str, list[float]] = {"tail": [], "rank": []}
    for sample in logits.rvs((800, count), random_state=np.random.default_rng(0)):
        for name, cut in (
            ("tail", tail_floor(expit(sample), 0.02)),
            ("rank", conformal_floor(sample, 0.02)),
        ):
            assert cut is not None
            refused[name].append(float(logits.cdf(logit(cut) if name == "tail" else cut)))
    assert np.mean(refused["tail"]) <= most
    assert np.quantile(refused["tail"], 0.95) < np.quantile(refused["rank"], 0.95)


def test_two_strange_examples_do_not_set_the_cut() -> None:
    logits = np.random.default_rng(0).normal(2, 1, 98)
    plain, strange = (tail_floor(expit(np.append(logits, two)), 0.02) for two in ([0.0, 0.0], [-6.0, -6.0]))
    assert plain is not None
    assert strange is not None
    assert conformal_floor(np.append(logits, [-6.0, -6.0]), 0.02) == -6.0
    assert logit(strange) > logit(plain) - 1.6


def test_a_tail_too_short_gives_no_cut() -> None:
    assert tail_floor(np.full(48, 0.5), 0.02) is None
    assert tail_floor(np.full(49, 0.5), 0.02) == pytest.approx(0.5)
