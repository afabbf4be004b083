"""What claims nothing, on sentences that nothing was fitted on."""

from __future__ import annotations

from pathlib import Path

import pytest

from classifiers import ClassifierError
from classifiers.faithfulness.statements.asides import asides
from classifiers.faithfulness.statements.speech_acts import speech_act

HELD_OUT = Path(__file__).with_name("acts")
# What is reached today; a change may lower it, never raise it. An unchecked claim costs more than a false block.
MOST_CLAIMS_UNCHECKED = {"en": 0, "ja": 1, "zh": 2}  # of 35, 40, 32
MOST_TAKEN_FOR_CLAIMS = {"en": 21, "ja": 9, "zh": 9}  # of 40, 34, 40


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_claims_are_told_from_what_claims_nothing(language: str) -> None:
    found = {"claim": list[str](), "aside": list[str]()}
    kind = ""
    for line in (HELD_OUT / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            kind = "claim" if line == "# claim" else "aside"
        elif (speech_act(line) == "claim") != (kind == "claim"):
            found[kind].append(line)
    assert len(found["claim"]) <= MOST_CLAIMS_UNCHECKED[language], found["claim"]
    assert len(found["aside"]) <= MOST_TAKEN_FOR_CLAIMS[language], found["aside"]


@pytest.mark.parametrize(
    "sentence",
    [
        "They are happy, excitable, and a bit mischievous.",  # a rule alone took them for a lead-in
        "We cannot answer the phone on Sundays.",
        "你知道儿童免费吗？",
        "The passages don't cover this topic, and the fee is 5 EUR.",
        "Happy to help for 5 EUR!",
    ],
)
def test_what_looks_like_an_aside_and_claims_something_is_checked(sentence: str) -> None:
    assert speech_act(sentence) == "claim"


def test_weights_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text('{"languages": []}')
    with pytest.raises(ClassifierError, match="fit_speech_acts"):
        asides(tmp_path / "weights.json")
