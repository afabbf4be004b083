"""The rows of evidence of the axis of scope, and what its fit takes for granted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

from classifiers.gate import Neighbour
from classifiers.gate.contrast import CONTRAST_FEATURES
from classifiers.gate.evidence import (
    SCOPE_FEATURES,
    Grounds,
    covered_share,
    scope_features,
    scope_rule,
    without_document,
)
from classifiers.gate.leaning import LEANING_FEATURES
from classifiers.gate.scope import Reading

NOTHING = np.full(len(CONTRAST_FEATURES), np.nan)
NO_LEANING = np.full(len(LEANING_FEATURES), np.nan)


def passage(document: str, lexical: float, similarity: float) -> Neighbour:
    return Neighbour("passage", "text", similarity, lexical, "must", document)


def row(found: list[Neighbour], grounds: Grounds, contrasted: np.ndarray = NOTHING) -> dict[str, float]:
    values = scope_features(contrasted, NO_LEANING, found, grounds)
    return dict(zip(SCOPE_FEATURES, values.tolist(), strict=True))


def test_words_in_one_passage_and_meaning_in_another_are_not_both() -> None:
    apart = row([passage("a", 0.9, 0.1), passage("b", 0.1, 0.9)], Grounds())
    together = row([passage("a", 0.9, 0.9), passage("b", 0.1, 0.1)], Grounds())
    assert apart["passage_wording"] == together["passage_wording"]
    assert apart["passage_both"] == pytest.approx(1.0)
    assert together["passage_both"] == pytest.approx(1.8)
    assert together["passage_margin"] > apart["passage_margin"]


def test_finding_nothing_tells_something_only_where_there_is_something_to_find() -> None:
    assert row([], Grounds(frozenset({"passage"})))["passage_both"] == 0.0
    assert np.isnan(row([], Grounds())["passage_both"])


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([], id="none is near"),
        pytest.param([Neighbour("entry", "text", 0.1, 0.0, "must", "e")], id="one that has nothing of it"),
        pytest.param([Neighbour("entry", "text", 0.9, 0.1, "must", "e")], id="one by meaning alone"),
        pytest.param([Neighbour("entry", "text", 1.0, 1.0, "must", "e")], id="the same question"),
    ],
)
def test_entries_speak_for_a_question_and_never_against_it(found: list[Neighbour]) -> None:
    there_are_entries = Grounds(frozenset({"entry"}))
    without = scope_features(NOTHING, NO_LEANING, [], Grounds())
    beside = scope_features(NOTHING, NO_LEANING, found, there_are_entries)
    rule = scope_rule()
    assert rule.logits(beside[None, :])[0] >= rule.logits(without[None, :])[0]


def test_resembling_none_of_a_few_examples_says_nothing_where_documents_speak() -> None:
    far = np.full(len(CONTRAST_FEATURES), 0.0)
    many = scope_features(far, NO_LEANING, [], Grounds(few=False))
    few = scope_features(far, NO_LEANING, [], Grounds(few=True))
    rule = scope_rule()
    assert rule.logits(many[None, :])[0] < rule.logits(few[None, :])[0]
    named = dict(zip(SCOPE_FEATURES, few.tolist(), strict=True))
    assert named["meaning_against_nearest"] == 0.0
    assert named["meaning_for_nearest"] > 0.0


def test_without_its_document_a_question_keeps_what_the_others_say() -> None:
    entry = Neighbour("entry", "text", 0.5, 0.5, "must", "an entry")
    found = [passage("ours", 0.9, 0.6), passage("ours", 0.2, 0.2), passage("other", 0.3, 0.3), entry]
    assert without_document(found) == [found[2], entry]
    assert without_document([]) == []


SILENT, SPEAKING = [passage("other", 0.15, 0.1)], [passage("ours", 0.6, 0.6)]


@pytest.mark.parametrize(
    ("found", "low", "high"),
    [
        pytest.param([], 1.0, 1.0, id="without examples nothing shows a gap"),
        pytest.param([SPEAKING] * 30, 1.0, 1.0, id="all found their passage"),
        pytest.param([SPEAKING] * 20 + [SILENT] * 10, 0.65, 0.75, id="two thirds did"),
        pytest.param([SPEAKING] * 2 + [SILENT], 0.85, 0.95, id="one of three shows little"),
        pytest.param([SPEAKING] * 95 + [[passage("ours", 0.4, 0.35)]] * 5, 0.99, 1.0, id="some nearly did"),
        pytest.param([[]] * 30, 0.0, 0.2, id="none did"),
    ],
)
def test_how_many_examples_find_a_passage_tells_what_the_documents_cover(
    found: list[list[Neighbour]], low: float, high: float
) -> None:
    assert low <= covered_share(found) <= high


@pytest.mark.parametrize(("covered", "most"), [(0.5, np.log(2)), (0.9, np.log(10))])
def test_silence_costs_no_more_than_the_gaps_are_rare(covered: float, most: float) -> None:
    reading = Reading(scope_rule(), 0.0, 2.0)  # a score is the probability of its logit
    says_nothing = scope_features(NOTHING, NO_LEANING, [], Grounds())[None, :]
    silent = scope_features(NOTHING, NO_LEANING, SILENT, Grounds())[None, :]
    cost = logit(reading.scores(says_nothing)) - logit(reading.despite_silence(silent, covered))
    assert cost == pytest.approx(most, abs=0.05)
    assert reading.despite_silence(silent, 1.0) == pytest.approx(reading.scores(silent))
