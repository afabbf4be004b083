"""The regression over the examples of both sides, on texts whose sides overlap."""

from __future__ import annotations

import anyio
import numpy as np
import pytest

from classifiers.gate import GateLabel
from classifiers.gate.contrast import Contrast, Sample
from classifiers.gate.leaning import fit_leaning
from classifiers.text import normalise
from encoders.testing import HashingEncoder

OURS = tuple(f"How do I {verb} my card?" for verb in ("activate", "order", "replace", "cancel"))
OTHERS = tuple(f"How do I {verb} my phone?" for verb in ("activate", "order", "replace", "cancel"))


def samples(texts: tuple[str, ...], label: GateLabel) -> list[Sample]:
    vectors = anyio.run(HashingEncoder().encode, texts)
    return [Sample(text, label, vector) for text, vector in zip(texts, vectors, strict=True)]


@pytest.fixture(scope="module")
def contrast() -> Contrast:
    return Contrast(samples(OURS, "must"), samples(OTHERS, "may"))


def test_a_question_leans_to_the_side_of_the_word_that_tells_them_apart(contrast: Contrast) -> None:
    fitted = fit_leaning(contrast)
    assert fitted is not None
    texts = ("How do I freeze my card?", "How do I freeze my phone?")
    vectors = anyio.run(HashingEncoder().encode, texts)
    leanings = fitted[0].of(contrast.compared(vectors, [normalise(text) for text in texts]))
    assert (leanings[0] > 0).all()
    assert (leanings[1] < 0).all()


def test_what_is_said_of_an_example_is_what_a_fit_without_it_says(contrast: Contrast) -> None:
    fitted = fit_leaning(contrast)
    assert fitted is not None
    left_out = fitted[1][normalise(OURS[0])]
    # The balance of the sides is kept as it was: only the example goes.
    smaller = fit_leaning(Contrast(contrast.samples[1 : len(OURS)], contrast.samples[len(OURS) :]))
    assert smaller is not None
    near = Contrast(contrast.samples[1 : len(OURS)], contrast.samples[len(OURS) :]).compared(
        contrast.samples[0].vector[None, :], [normalise(OURS[0])]
    )
    meaning, _ = smaller[0].of(near)[0]
    assert left_out[0] == pytest.approx(meaning, abs=0.05)
    assert np.sign(left_out[0]) == 1


@pytest.mark.parametrize("sides", [(OURS, ()), ((), OTHERS), ((), ())])
def test_one_side_alone_leans_nowhere(sides: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    ours, others = (samples(texts, "must") if texts else [] for texts in sides)
    assert fit_leaning(Contrast(ours, others)) is None


def test_a_text_on_both_sides_and_twice_counts_once() -> None:
    contrast = Contrast(samples((*OURS, OURS[0]), "must"), samples((*OTHERS, OURS[0]), "may"))
    fitted = fit_leaning(contrast)
    assert fitted is not None
    assert len(fitted[0].anchors) == len(OURS) + len(OTHERS)
