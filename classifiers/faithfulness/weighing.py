"""What speaks for and against a statement, weighed: a logistic model for words, and one for characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from classifiers import ClassifierError
from classifiers.faithfulness import StatementVerdict
from classifiers.faithfulness.examination import Examined
from classifiers.weights import probability, read_weights
from languages.identification import script_language

__all__ = ["BELOW_CUT", "EvidenceModel", "Weights", "weighed"]

BELOW_CUT: Final = 0.99


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model over figures in a fixed order, and the score below which nothing is supported."""

    weights: Sequence[float]
    bias: float
    cut: float

    def score(self, values: Sequence[float]) -> float:
        """Probability that the statement is supported."""
        return probability(self.bias, self.weights, values)

    def supports(self, values: Sequence[float]) -> bool:
        """Whether the score reaches the cut."""
        return self.score(values) >= self.cut


@dataclass(frozen=True, slots=True)
class EvidenceModel:
    """The weights for words (Latin script) and for characters, with a cut for each language."""

    by_language: Mapping[str, Weights]
    judge: str

    @classmethod
    def load(cls, path: Path, names: Sequence[str]) -> Self:
        """Read a weights file; `names` are the figures in the order in which they will be given.

        Raises:
            ClassifierError: if the file is missing, unreadable, or made for other figures.
        """
        read = partial(_weights, names)
        words, characters, judge = read_weights(path, read, script="training/fit_faithfulness.py")
        return cls(words | characters, judge)

    def at(self, cut: float | None) -> Self:
        """The same weights at a cut that an operator chose for every language, if he did.

        Raises:
            ClassifierError: if it is no probability.
        """
        if cut is None:
            return self
        if not 0 <= cut <= 1:
            raise ClassifierError(f"cut: expected a probability from 0 to 1, not {cut}")
        return replace(self, by_language={at: replace(one, cut=cut) for at, one in self.by_language.items()})

    def for_text(self, text: str) -> Weights:
        """The weights for the language of a text, by its script."""
        return self.by_language[script_language(text)]


def _weights(names: Sequence[str], data: Mapping[str, Any]) -> dict[str, Weights]:
    weights = [float(data["weights"][name]) for name in names]
    bias = float(data["bias"])
    return {language: Weights(weights, bias, float(cut)) for language, cut in data["cuts"].items()}


def weighed(
    one: Examined,
    values: Sequence[float],
    model: EvidenceModel,
    *,
    contradicted: bool,
    at_most: float = 1.0,
) -> StatementVerdict:
    """The verdict on a statement by what is weighed; its score is at most `at_most`.

    A contradiction holds it back, however well the rest is covered, but ranks it with the doubtful ones: on
    answers of real RAG one is more often misread than new words are.
    """
    weights = model.for_text(one.statement.text)
    score = min(weights.score(values), at_most)
    if contradicted:
        score = min(score, weights.cut * BELOW_CUT)
    supported = score >= weights.cut and not contradicted
    return one.verdict("supported" if supported else "unsupported", score, judge=model.judge)
