"""Wording is compared as scikit-learn's vectorizer would, only without its checks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from classifiers.gate.contrast import Contrast, Sample

TEXTS = ("how do i activate my card", "振込はいつ届きますか", "怎么激活银行卡", "a a a a b")


@pytest.mark.parametrize("asked", [("activate the card card card",), ("", "卡", "zzz", "how do i"), ("🙂",)])
def test_the_cosines_are_those_of_the_vectorizer(asked: tuple[str, ...]) -> None:
    vector = np.ones(4, np.float32) / 2
    contrast = Contrast([Sample(text, "must", vector) for text in TEXTS], ())
    plain = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    stored = plain.fit_transform(TEXTS)
    expected = (plain.transform(asked) @ stored.T).toarray()
    vectors = np.stack([vector] * len(asked))
    assert contrast.compared(vectors, asked).wording == pytest.approx(expected, abs=1e-5)
