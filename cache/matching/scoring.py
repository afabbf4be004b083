"""From evidence to one probability: the weighing, then a pair model that reads what may well answer, then a
model that reads the answer where those two leave doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from cache.matching import Candidate
from cache.matching.evidence import Answering, Numbers, Rereading, Weighing, Weights
from encoders.pairs import PairModel

__all__ = ["Paired", "Scorer", "told"]

WORTH_READING = 0.2  # by evidence alone; whatever has less is no hit, however well it reads


class Paired(NamedTuple):
    """A question and what may answer it."""

    question: str
    phrasing: str  # the one of the entry that is nearest
    answer: str  # the entry's


def told(phrasing: str, answer: str) -> str:
    """An entry as a model of answers reads it: as a passage under its heading."""
    return f"{phrasing}\n{answer}"


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the entries of a shelf get their scores."""

    weighing: Weighing
    rereading: Rereading | None = None
    pairs: PairModel | None = None
    default_cut: float = 1.0  # for shelves that can't be calibrated; 1 serves by meaning what is certain
    answering: Answering | None = None
    answers: PairModel | None = None

    @classmethod
    def of(
        cls,
        weights: Weights,
        language: str,
        known: tuple[str, ...],
        pairs: PairModel | None = None,
        answers: PairModel | None = None,
    ) -> Self:
        """By the weights of a language; `known` are those of the encoder.

        `pairs` reads a question with a phrasing, `answers` with an answer.
        """
        reading = weights.reading(language, known)
        weighing, again = weights.readings[reading], weights.rereadings.get(reading)
        if pairs is None or again is None or language not in pairs.languages:
            return cls(weighing, default_cut=weights.default_cuts[reading])
        if answers is None or language not in answers.languages:
            return cls(weighing, again, pairs, again.default_cut)
        return cls(weighing, again, pairs, again.default_cut, weights.answering, answers)

    async def reread(self, scores: Numbers, asked: Sequence[Paired]) -> Numbers:
        """The scores after the models have read each question with what may answer it.

        Raises:
            EncoderError: if a model can't be run. What was not read must not be served.
        """
        worth = np.flatnonzero(scores >= WORTH_READING)
        if self.pairs is None or self.rereading is None or not len(worth):
            return scores
        again = scores.copy()
        logits = await self.pairs.scores([asked[int(row)][:2] for row in worth])
        again[worth] = self.rereading.probability(scores[worth], logits)
        return await self._answered(again, asked)

    async def _answered(self, scores: Numbers, asked: Sequence[Paired]) -> Numbers:
        if self.answers is None or self.answering is None:
            return scores
        doubted = self.answering.doubted(scores)
        if not len(doubted):
            return scores
        again, read = scores.copy(), [asked[int(row)] for row in doubted]
        logits = await self.answers.scores([(one.question, told(one.phrasing, one.answer)) for one in read])
        again[doubted] = self.answering.probability(scores[doubted], logits)
        return again

    async def first_reread(self, question: str, ranked: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates, the first one with its final score. Only the first is ever served."""
        if not ranked or self.pairs is None:
            return ranked
        first, *others = ranked
        paired = Paired(question, first.phrasing, first.entry.answer)
        (score,) = await self.reread(np.array([first.score]), [paired])
        return (replace(first, score=float(score)), *others)
