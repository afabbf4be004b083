"""A short week: the figures are those of the raw outcomes and of what the residents saw."""

from __future__ import annotations

import asyncio

import pytest

from examples.simulated_week import Week, disagreements, simulate


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    return asyncio.run(simulate(tmp_path_factory.mktemp("week"), questions=140))


def test_the_figures_agree_with_the_raw_outcomes_and_with_the_residents(week: Week) -> None:
    assert disagreements(week) == []
    assert week.figures["rates"]["questions"]["count"] >= 140


def test_the_bound_covers_the_wrong_answers_that_went_out(week: Week) -> None:
    assert week.is_covered
    assert 0 < week.figures["wrong_answers"]["upper"] < 1


def test_the_reviewer_left_nothing_open_and_published_what_he_answered(week: Week) -> None:
    assert week.published > 0
    assert (week.figures["tickets"]["open"], week.figures["tickets"]["overdue"]) == (0, 0)
    assert week.figures["tickets"]["wait_p50_s"] < 86_400


def test_days_without_questions_are_days_without_rates_and_every_day_is_there(week: Week) -> None:
    counts = [step["rates"]["questions"]["count"] for step in week.figures["steps"]]
    assert counts == [len(week.of_day(day)) for day in range(7)]
