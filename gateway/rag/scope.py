"""Passages as proof of scope: a question that the documents speak of is probably ours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from classifiers import ClassifierError
from classifiers.gate import Neighbour
from classifiers.gate.lexical import lexical_share
from encoders import Encoded
from storage.vectors import Found, IndexUnavailable, VectorIndex

__all__ = ["PassageScope"]

LOOKED_AT = 5


class PassageScope:
    """Shows the gate the passages near a question, by meaning and by words (a `ScopeSource`)."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index

    async def near(self, question: Encoded, /, *, tenant: str) -> Sequence[Neighbour]:
        """The nearest passages, nearest first. Documents belong to all tenants.

        Raises:
            ClassifierError: the index can't be asked, so nothing is known.
        """
        try:
            near, matching = await asyncio.gather(
                self._index.nearest(question.vector, where={}, limit=LOOKED_AT),
                self._index.matching(question.text, where={}, limit=LOOKED_AT),
            )
        except IndexUnavailable as exc:
            raise ClassifierError("the documents can't be searched, so scope can't be judged") from exc
        floor = min((found.score for found in near), default=0.0)
        known = {found.id for found in near}
        return [
            *(_neighbour(question, found, found.score) for found in near),
            *(_neighbour(question, found, floor) for found in matching if found.id not in known),
        ]


def _neighbour(question: Encoded, found: Found, similarity: float) -> Neighbour:
    return Neighbour(
        kind="passage",
        text=found.text,
        similarity=similarity,
        lexical=lexical_share(question.text, found.text),
        label="must",
        source=str(found.payload.get("path", "")),
    )
