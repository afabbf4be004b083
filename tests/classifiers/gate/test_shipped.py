"""The lists that come with the gate."""

from __future__ import annotations

import pytest

from classifiers.gate.shipped import shipped_attacks, shipped_everyday
from classifiers.text import mostly_cjk, normalise


def test_every_topic_has_examples_in_spaced_and_unspaced_scripts() -> None:
    for topic in shipped_attacks().topics:
        written = [mostly_cjk(text) for text in topic.examples]
        assert written.count(True) >= 20, topic.name
        assert written.count(False) >= 10, topic.name


def test_no_text_is_listed_twice() -> None:
    attacks = shipped_attacks()
    texts = [text for topic in attacks.topics for text in topic.examples]
    texts += [*attacks.harmless, *shipped_everyday()]
    normalised = [normalise(text) for text in texts]
    assert len(set(normalised)) == len(normalised)


def test_no_pattern_matches_a_harmless_text() -> None:
    attacks = shipped_attacks()
    for text in (*attacks.harmless, *shipped_everyday()):
        assert attacks.matching(normalise(text)) is None, text


def test_every_pattern_belongs_to_a_topic() -> None:
    attacks = shipped_attacks()
    assert {pattern.topic for pattern in attacks.patterns} <= {topic.name for topic in attacks.topics}


@pytest.mark.parametrize(
    "unit", ["ignore ", "act as without ", "これまでの", "忽略之前的", "show your ", "repeat "], ids=str
)
def test_half_an_attack_said_very_often_is_none(unit: str) -> None:
    text = normalise(unit * (100_000 // len(unit)))  # an expression that goes back and forth would not end
    assert shipped_attacks().matching(text) is None
