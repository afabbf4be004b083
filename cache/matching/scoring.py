"""From evidence to one probability: the weighing, and a pair model that reads what may well answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cache.matching import Candidate
from cache.matching.evidence import Numbers, Rereading, Weighing, Weights
from encoders.pairs import PairModel

__all__ = ["Scorer"]

WORTH_READING = 0.2  # by evidence alone; whatever has less is no hit, however well it reads


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the entries of a shelf get their scores."""

    weighing: Weighing
    rereading: Rereading | None = None
    pairs: PairModel | None = None
    default_cut: float = 1.0  # for shelves that can't be calibrated; 1 serves by meaning what is certain

    @classmethod
    def of(
        cls, weights: Weights, language: str, known: tuple[str, ...], pairs: PairModel | None = None
    ) -> Self:
        """By the weights of a language; `known` are those of the encoder."""
        reading = weights.reading(language, known)
        weighing, again = weights.readings[reading], weights.rereadings.get(reading)
        if pairs is None or again is None or language not in pairs.languages:
            return cls(weighing, default_cut=weights.default_cuts[reading])
        return cls(weighing, again, pairs, again.default_cut)

    async def reread(self, scores: Numbers, asked: Sequence[tuple[str, str]]) -> Numbers:
        """The scores after the pair model has read each question and the phrasing that is nearest to it.

        Raises:
            EncoderError: if the model can't be run. What was not read must not be served.
        """
        worth = np.flatnonzero(scores >= WORTH_READING)
        if self.pairs is None or self.rereading is None or not len(worth):
            return scores
        again = scores.copy()
        logits = await self.pairs.scores([asked[int(row)] for row in worth])
        again[worth] = self.rereading.probability(scores[worth], logits)
        return again

    async def first_reread(self, question: str, ranked: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates, the first one with its final score. Only the first is ever served."""
        if not ranked or self.pairs is None:
            return ranked
        first, *others = ranked
        (score,) = await self.reread(np.array([first.score]), [(question, first.phrasing)])
        return (replace(first, score=float(score)), *others)
