"""What a plain classifier of words would do with the policy's examples: the line to be above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from classifiers.gate import Policy
from classifiers.gate.combiner import conformal_floor

__all__ = ["WordsBaseline"]

_FOLDS = 5


@dataclass(frozen=True, slots=True)
class WordsBaseline:
    """TF-IDF of character n-grams with logistic regression: must against all other examples."""

    model: Pipeline
    cut: float  # that keeps the promise on the cross-validated must examples; scores are counted from it

    @classmethod
    def fit(cls, policy: Policy, error: float) -> WordsBaseline | None:
        """Fit on the policy's examples; None with too few of a side to cross-validate."""
        others = [*policy.may.examples, *policy.must_not.examples]
        others += [text for topic in policy.topics for text in topic.examples]
        if min(len(policy.must.examples), len(others)) < _FOLDS:
            return None
        texts = [*policy.must.examples, *others]
        truth = np.arange(len(texts)) < len(policy.must.examples)
        model = make_pipeline(
            TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True),
            LogisticRegression(C=10, class_weight="balanced", max_iter=1_000),
        )
        held_out = cross_val_predict(model, texts, truth, cv=_FOLDS, method="decision_function")[truth]
        cut = conformal_floor(held_out, error)
        return cls(model.fit(texts, truth), float(held_out.min() if cut is None else cut))

    def scores(self, texts: Sequence[str]) -> list[float]:
        """How much each text looks like must; what is below 0 would be refused."""
        return (
            [float(score) - self.cut for score in self.model.decision_function(list(texts))] if texts else []
        )
