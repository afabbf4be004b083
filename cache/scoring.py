"""From evidence to one probability: the weighing, and a pair model that reads what may well answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cache.evidence import Numbers, Rereading, Weighing
from cache.matching import Candidate
from encoders.pairs import PairModel

__all__ = ["Scorer"]

WORTH_READING = 0.2  # by evidence alone; whatever has less is no hit, however well it reads


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the entries of one language get their scores."""

    weighing: Weighing
    rereading: Rereading | None = None
    pairs: PairModel | None = None

    async def reread(self, scores: Numbers, pairs: Sequence[tuple[str, str]]) -> Numbers:
        """The scores after the pair model has read a question and a phrasing for each.

        Raises:
            EncoderError: if the model can't be run. What was not read must not be served.
        """
        if self.pairs is None or self.rereading is None:
            return scores
        worth = np.flatnonzero(scores >= WORTH_READING)
        read = scores.copy()
        if len(worth):
            logits = await self.pairs.scores([pairs[int(at)] for at in worth])
            read[worth] = self.rereading.probability(scores[worth], logits)
        return read

    async def first_reread(self, question: str, ranked: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates, the first one with its final score. Only the first is ever served."""
        if not ranked or self.pairs is None:
            return ranked
        first, *others = ranked
        (score,) = await self.reread(np.array([first.score]), [(question, first.phrasing)])
        return (replace(first, score=float(score)), *others)
