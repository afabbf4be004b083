"""Finding the verified entry that answers a question: the exact tier, then meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from functools import partial
from hashlib import sha256
from typing import Self

from cache.calibration import Cut, Labelled, shelf_cut
from cache.calibration.cuts import Also, Cuts, nothing_else
from cache.guards import Guard, default_guards
from cache.indexing import shelf_key, spread_of
from cache.looks import Looks
from cache.matching import Candidate, Hit, Match, Miss, Similar, candidates, decide
from cache.matching.evidence import ENTRIES, PHRASINGS, Weights
from cache.matching.scoring import Scorer
from cache.reading.asking import readings, says_all
from cache.store.content import LONGEST_PHRASING
from cache.store.served import Phrased, ServedEntries
from encoders import Encoded, Encoder, EncoderError, encode_one
from encoders.pairs import PairModel
from storage.vectors import Found, IndexUnavailable, VectorIndex, Where

__all__ = ["Labelled", "Shelf"]

TARGET_ERROR = 0.01  # wrong answers per request, where the operator states nothing
WORDINGS = 16  # phrasings asked for by their words
ENTRIES_BY_WORDS = 4
_JUDGED_BY = {"meaning": "meaning", "words": "meaning, words", "characters": "characters only"}


class Shelf:
    """The served entries of every tenant, group and language; one never sees another's."""

    def __init__(
        self,
        store: ServedEntries,
        index: VectorIndex,
        encoder: Encoder,
        *,
        target_error: float = TARGET_ERROR,
        weights: Weights | None = None,
        guards: Sequence[Guard] | None = None,
        pairs: PairModel | None = None,
        answers: PairModel | None = None,
    ) -> None:
        """`pairs` reads a question with a phrasing, `answers` with an answer, where `pairs` leaves doubt."""
        self._store = store
        self._index = index
        self._encoder = encoder
        self._target_error = target_error
        self._weights = weights if weights is not None else Weights.load()
        self._guards = tuple(guards) if guards is not None else default_guards()
        self._looks = Looks()
        self._pairs = pairs
        self._answers = answers
        digests = (one.digest if one else "" for one in (pairs, answers))
        made_by = (encoder.identity.digest, *digests, self._weights.digest)
        self._made_for = sha256(" ".join(made_by).encode()).hexdigest()
        self._cuts = Cuts(store.db, target_error=target_error, made_for=self._made_for)

    @property
    def made_for(self) -> str:
        """The models and weights that give the scores: a cut or a window of others is about other scores."""
        return self._made_for

    @property
    def covers(self) -> dict[str, str]:
        """What each language is judged by, for the operator to read at start-up."""
        return {language: self._judged_by(language) for language in ("en", "ja", "zh")}

    def _judged_by(self, language: str) -> str:
        reading = self._weights.reading(language, self._encoder.identity.languages)
        scorer = self.scorer(language)
        models = {"pair model": scorer.pairs, "model of answers": scorer.answers}
        return ", ".join([_JUDGED_BY[reading], *(name for name, model in models.items() if model)])

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What may keep an entry back, the cheapest first."""
        return self._guards

    def over(self, store: ServedEntries, index: VectorIndex) -> Self:
        """The same judgement over other entries: for asking what would happen if they were served."""
        other = copy(self)
        other._store, other._index, other._looks = store, index, Looks()
        return other

    async def find(self, question: Encoded, *, tenant: str, language: str, group: str = "") -> Match:
        """The entry that answers, one that nearly would, or none.

        Whoever states no group sees only what is everybody's, here and in every other method.
        A dead index is a miss that says so. A dead database raises `DatabaseUnavailable`.
        """
        exact = await self.exact(question, tenant=tenant, language=language, group=group)
        if exact is not None:
            return Hit(
                entry=exact.entry, phrasing=exact.phrasing, tier="exact", score=1.0, reason="the same words"
            )
        cut = await self.cut(tenant, language)
        try:
            ranked = await self._ranked(question, tenant=tenant, language=language, group=group)
        except IndexUnavailable as dead:
            return Miss(reason=f"the index could not be asked: {dead}", lookup_failed=True)
        except EncoderError as broken:  # a verifier that fails is a miss
            return Miss(reason=f"a model could not be asked: {broken}", lookup_failed=True)
        return decide(question.text, ranked, cut=cut.score, guards=self._guards)

    async def exact(
        self, question: Encoded, *, tenant: str, language: str, group: str = ""
    ) -> Phrased | None:
        """The entry that has this very question among its phrasings."""
        look = partial(self._store.find_exact, tenant, question.text, language, group=group)
        return await self._looks.once("exact", question, (tenant, language, group), look)

    async def neighbours(
        self, question: Encoded, *, tenant: str, language: str, group: str = "", limit: int = 5
    ) -> tuple[Candidate, ...]:
        """The entries nearest to a question, with their evidence.

        Raises:
            IndexUnavailable: if the index can't be asked.
            EncoderError: if the pair model can't be asked.
        """
        return (await self._ranked(question, tenant=tenant, language=language, group=group))[:limit]

    async def by_evidence(
        self, question: Encoded, *, tenant: str, language: str, group: str = "", limit: int = 5
    ) -> tuple[Candidate, ...]:
        """As `neighbours`, for whoever needs no score: the first one's is not yet what the pair model says.

        Raises:
            IndexUnavailable: if the index can't be asked.
            EncoderError: if another reading of the question can't be encoded.
        """
        _, ranked = await self._found(question, tenant=tenant, language=language, group=group)
        return ranked[:limit]

    async def cut(self, tenant: str, language: str) -> Cut:
        """From which score this shelf serves: as calibrated, else the default."""
        kept = await self._cuts.of(tenant, language)
        if kept is not None:
            return kept
        scorer = self.scorer(language)
        return Cut(
            score=scorer.default_cut,
            target_error=self._target_error,
            bound=None,
            probes=0,
            served=0.0,
            why="default cut: this shelf was not calibrated for this target and model",
        )

    async def calibrate(self, tenant: str, language: str, labelled: Sequence[Labelled] = ()) -> Cut:
        """Find the cut of a shelf from its entries, or from enough labelled questions, and keep it."""
        cut = await shelf_cut(
            await self._store.whole_shelf(tenant, language),
            self._encoder,
            scorer=self.scorer(language),
            target_error=self._target_error,
            guards=self._guards,
            labelled=labelled,
        )
        return await self._cuts.keep(tenant, language, cut)

    async def tighten(
        self, tenant: str, language: str, *, present: Cut, score: float, why: str, also: Also = nothing_else
    ) -> bool:
        """Serve from a higher score on until the next calibration; see `Cuts.tighten`."""
        return await self._cuts.tighten(tenant, language, present=present, score=score, why=why, also=also)

    async def _ranked(
        self, question: Encoded, *, tenant: str, language: str, group: str
    ) -> tuple[Candidate, ...]:
        async def look() -> tuple[Candidate, ...]:
            read, ranked = await self._found(question, tenant=tenant, language=language, group=group)
            return await self.scorer(language).first_reread(read, ranked)

        return await self._looks.once("ranked", question, (tenant, language, group), look)

    async def _found(
        self, question: Encoded, *, tenant: str, language: str, group: str
    ) -> tuple[str, tuple[Candidate, ...]]:
        """The first reading that says all that its best candidate says, else the last, and what it finds."""

        async def look() -> tuple[str, tuple[Candidate, ...]]:
            found: tuple[str, tuple[Candidate, ...]] = (question.text, ())
            if len(question.text) > LONGEST_PHRASING:
                return found  # a pasted document, which no phrasing can be near
            for text in readings(question.text, language):
                asked = question if text == question.text else await encode_one(self._encoder, text)
                ranked = await self._found_as(asked, tenant=tenant, language=language, group=group)
                found = text, ranked
                if ranked and says_all(text, ranked[0].phrasing, language):
                    break
            return found

        return await self._looks.once("found", question, (tenant, language, group), look)

    async def _found_as(
        self, question: Encoded, *, tenant: str, language: str, group: str
    ) -> tuple[Candidate, ...]:
        everybodys, groups = shelf_key(tenant, language, ""), shelf_key(tenant, language, group)
        where: Where = {"shelf": (everybodys, groups) if group else everybodys}
        near, worded = await asyncio.gather(
            self._index.nearest(question.vector, where=where, limit=PHRASINGS),
            self._index.matching(question.text, where=where, limit=WORDINGS),
        )
        if not near and not worded:
            return ()
        ids = [*_first_entries(near, ENTRIES), *_first_entries(worded, ENTRIES_BY_WORDS)]
        entries = await self._store.served(tenant, language, tuple(dict.fromkeys(ids)), group=group)
        return candidates(question.text, _similar(near, worded), entries, self.scorer(language).weighing)

    def scorer(self, language: str) -> Scorer:
        """How entries in a language get their scores."""
        known = self._encoder.identity.languages
        return Scorer.of(self._weights, language, known, self._pairs, self._answers)


def _first_entries(found: Sequence[Found], limit: int) -> list[str]:
    """The entries of the phrasings, each once, the best first."""
    return list(dict.fromkeys(str(one.payload["entry"]) for one in found))[:limit]


def _similar(near: Sequence[Found], worded: Sequence[Found]) -> Similar:
    cosines = tuple((str(one.payload["entry"]), one.text, one.score) for one in near)
    spreads = {str(one.payload["entry"]): spread_of(one.payload) for one in (*near, *worded)}
    return Similar(cosines, floor=near[-1].score if len(near) >= PHRASINGS else None, spreads=spreads)
