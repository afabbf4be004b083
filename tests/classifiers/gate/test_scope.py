"""The rows of evidence of the axis of scope, and what its fit takes for granted."""

from __future__ import annotations

import numpy as np
import pytest

from classifiers.gate import Neighbour
from classifiers.gate.contrast import CONTRAST_FEATURES
from classifiers.gate.leaning import LEANING_FEATURES
from classifiers.gate.scope import SCOPE_FEATURES, Grounds, scope_features, scope_rule, without_document

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
