"""The grey zone: entries not sure enough to be served and too close to be ignored are asked about."""

from __future__ import annotations

import structlog

from cache.matching import NEAR, Candidate, objection
from cache.shelf import Shelf
from encoders import Encoder, EncoderError, encode_one
from gateway.domain import Offer, Offers, Question
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["NearQuestions"]

MOST = 3


class NearQuestions:
    """Looks for verified questions that may be what the asker meant (a `DidYouMean`)."""

    def __init__(self, shelf: Shelf, encoder: Encoder) -> None:
        self._shelf = shelf
        self._encoder = encoder

    async def near(self, question: Question, /) -> Offers:
        """The best few on the asker's own shelf; none where the stores can't be asked.

        What a guard objects to is another question, and not offered.
        """
        try:
            encoded = await encode_one(self._encoder, question.text)
            found = await self._shelf.neighbours(
                encoded, tenant=question.tenant, group=question.group, language=question.language
            )
            cut = (await self._shelf.cut(question.tenant, question.language)).score
        except (IndexUnavailable, EncoderError, DatabaseUnavailable) as exc:
            structlog.get_logger("sekisho.cache").warning("nothing offered", error=type(exc).__name__)
            return Offers(())
        near = [one for one in found if one.score >= cut * NEAR and self._is_the_same(question, one)]
        return Offers(
            tuple(Offer(one.entry.id, one.entry.question, round(one.score, 3)) for one in near[:MOST])
        )

    def _is_the_same(self, question: Question, one: Candidate) -> bool:
        phrasings, language = one.entry.phrasings, question.language
        return objection(question.text, one.phrasing, phrasings, language, self._shelf.guards) is None
