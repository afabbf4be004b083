"""The alarm keeps its false-alarm rate while nothing changes, and rings when something does."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cache.calibration.drift import FALSE_ALARM_EVERY, Drift


def usual(draw: np.random.Generator, n: int, *, hit_rate: float = 0.5) -> np.ndarray:
    """Best scores: hits are high, the rest is low, and a third of that is nothing at all."""
    low = np.where(draw.random(n) < 1 / 3, 0.0, draw.beta(1, 6, n))
    return np.where(draw.random(n) < hit_rate, draw.beta(8, 1, n), low)


def seen(drift: Drift, scores: np.ndarray, draw: np.random.Generator) -> list[float]:
    """The statistic after each score."""
    statistics = []
    for score, lot in zip(scores.tolist(), draw.random(len(scores)).tolist(), strict=True):
        drift.see(score, lot=lot)
        statistics.append(drift.statistic)
    return statistics


def test_while_nothing_changes_the_statistic_grows_by_one_a_question_on_average() -> None:
    draw = np.random.default_rng(1)
    last = np.array([seen(Drift(), usual(draw, 60), draw)[-1] for _ in range(2_000)])
    assert abs(last.mean() - 60) < 4 * last.std() / np.sqrt(len(last))


def test_a_false_alarm_within_n_questions_is_as_rare_as_stated() -> None:
    """For an alarm at 1,000 instead of 100,000, so that there is something to count."""
    draw = np.random.default_rng(2)
    alarms = sum(max(seen(Drift(), usual(draw, 150), draw)) >= 1_000 for _ in range(2_000))
    assert alarms <= 2_000 * 150 / 1_000


@pytest.mark.parametrize(("hit_rate", "within"), [(0.1, 150), (0.95, 150), (0.25, 400)])
def test_the_alarm_rings_soon_after_the_share_of_hits_has_changed(hit_rate: float, within: int) -> None:
    draw = np.random.default_rng(3)
    rang = 0
    for _ in range(20):
        drift = Drift()
        seen(drift, usual(draw, 2_000), draw)
        assert not drift.alarm
        rang += max(seen(drift, usual(draw, within, hit_rate=hit_rate), draw)) >= FALSE_ALARM_EVERY
    assert rang >= 19


def test_the_alarm_rings_when_hits_score_lower_than_they_did() -> None:
    draw = np.random.default_rng(4)
    drift = Drift()
    seen(drift, usual(draw, 3_000, hit_rate=1.0), draw)
    assert max(seen(drift, draw.beta(4, 1, 400), draw)) >= FALSE_ALARM_EVERY


def test_the_alarm_ends_once_the_new_questions_are_the_usual_ones() -> None:
    draw = np.random.default_rng(5)
    drift = Drift()
    seen(drift, usual(draw, 300), draw)
    seen(drift, usual(draw, 200, hit_rate=0.1), draw)
    assert drift.alarm
    seen(drift, usual(draw, 10_000, hit_rate=0.1), draw)
    assert not drift.alarm


def test_what_was_seen_survives_as_json() -> None:
    draw = np.random.default_rng(6)
    drift = Drift()
    seen(drift, usual(draw, 500), draw)
    again = Drift.from_json(json.loads(json.dumps(drift.as_json())))
    assert again == drift
    for one in (drift, again):
        one.see(0.3, lot=0.5)
    assert again.statistic == drift.statistic


@pytest.mark.parametrize("kept", [{}, {"counts": [1, 2], "shares": [1.0], "statistic": 3.0}])
def test_a_state_of_another_form_begins_anew(kept: dict[str, object]) -> None:
    assert Drift.from_json(kept) == Drift()


@pytest.mark.parametrize("score", [0.0, 1.0, 1e-300, 1 - 1e-16])
def test_scores_at_the_ends_count_as_any_other(score: float) -> None:
    drift = Drift()
    for _ in range(100):
        drift.see(score, lot=0.5)
    assert sum(drift.counts) == 100
    assert drift.statistic > 0
