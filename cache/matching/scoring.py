"""From evidence to one probability: the weighing, and a pair model that reads what may well answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cache.matching import Candidate
from cache.matching.evidence import READ, Numbers, Rereading, Trust, Weighing
from encoders.pairs import PairModel

__all__ = ["Scorer"]

WORTH_READING = 0.2  # by evidence alone; whatever has less is no hit, however well it reads
READ_ON = 1.5  # below this logit the entry's next phrasing is read, too

Asked = tuple[str, Sequence[str]]  # a question, and the phrasings of one entry, the nearest first


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the entries of a shelf get their scores."""

    weighing: Weighing
    rereading: Rereading | None = None
    pairs: PairModel | None = None
    trust: Trust = "none"
    default_cut: float = 1.0  # for shelves that can't be calibrated; 1 serves by meaning what is certain

    @property
    def reads(self) -> int:
        """How many phrasings of an entry the pair model may read: one, unless it knows the subject."""
        return READ if self.trust == "much" else 1

    async def reread(self, scores: Numbers, asked: Sequence[Asked]) -> Numbers:
        """The scores after the pair model has read a question and the phrasings of an entry for each.

        Raises:
            EncoderError: if the model can't be run. What was not read must not be served.
        """
        return self.after(scores, await self.logits(scores, asked))

    async def logits(self, scores: Numbers, asked: Sequence[Asked]) -> Numbers:
        """What the pair model says of a question and each phrasing, shape (questions, `reads`).

        NaN where it is not asked: a further phrasing is read only where those before it left it unsure.

        Raises:
            EncoderError: if the model can't be run.
        """
        logits = np.full((len(scores), self.reads), np.nan)
        if self.pairs is None:
            return logits
        unsure = scores >= WORTH_READING
        for place in range(self.reads):
            unsure &= np.array([len(phrasings) > place for _, phrasings in asked], bool)
            rows = np.flatnonzero(unsure)
            if len(rows):
                pairs = [(asked[int(at)][0], asked[int(at)][1][place]) for at in rows]
                logits[rows, place] = await self.pairs.scores(pairs)
            unsure &= logits[:, place] < READ_ON
        return logits

    def after(self, scores: Numbers, logits: Numbers) -> Numbers:
        """The scores after the best that the pair model said of the phrasings that count."""
        if self.rereading is None:
            return scores
        best = np.fmax.reduce(logits[:, : self.reads], axis=1)
        return np.where(np.isnan(best), scores, self.rereading.probability(scores, best))

    async def first_reread(self, question: str, ranked: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates, the first one with its final score. Only the first is ever served."""
        if not ranked or self.pairs is None:
            return ranked
        first, *others = ranked
        (score,) = await self.reread(np.array([first.score]), [(question, first.nearest)])
        return (replace(first, score=float(score)), *others)
