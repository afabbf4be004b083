"""From evidence to one probability: the weighing, and a pair model that reads what may well answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cache.matching import Candidate
from cache.matching.evidence import Numbers, Rereading, Trust, Weighing
from encoders.pairs import PairModel

__all__ = ["Scorer"]

WORTH_READING = 0.2  # by evidence alone; whatever has less is no hit, however well it reads


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the entries of a shelf get their scores."""

    weighing: Weighing
    rereading: Rereading | None = None
    pairs: PairModel | None = None
    trust: Trust = "none"

    async def reread(self, scores: Numbers, pairs: Sequence[tuple[str, str]]) -> Numbers:
        """The scores after the pair model has read a question and a phrasing for each.

        Raises:
            EncoderError: if the model can't be run. What was not read must not be served.
        """
        return self.after(scores, await self.logits(scores, pairs))

    async def logits(self, scores: Numbers, pairs: Sequence[tuple[str, str]]) -> Numbers:
        """What the pair model says of a question and a phrasing for each score; NaN where it is not asked.

        Raises:
            EncoderError: if the model can't be run.
        """
        logits = np.full(len(scores), np.nan)
        worth = np.flatnonzero(scores >= WORTH_READING)
        if self.pairs is not None and self.rereading is not None and len(worth):
            logits[worth] = await self.pairs.scores([pairs[int(at)] for at in worth])
        return logits

    def after(self, scores: Numbers, logits: Numbers) -> Numbers:
        """The scores after what the pair model said."""
        if self.rereading is None:
            return scores
        return np.where(np.isnan(logits), scores, self.rereading.probability(scores, logits))

    async def first_reread(self, question: str, ranked: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates, the first one with its final score. Only the first is ever served."""
        if not ranked or self.pairs is None:
            return ranked
        first, *others = ranked
        (score,) = await self.reread(np.array([first.score]), [(question, first.phrasing)])
        return (replace(first, score=float(score)), *others)
