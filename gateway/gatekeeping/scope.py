"""Verified entries as proof of scope: what a person answered before is ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cache.shelf import Shelf
from classifiers.gate import Neighbour
from classifiers.gate.lexical import lexical_share
from encoders import Encoded, EncoderError
from languages.identification import Language
from storage.outages import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["EntryScope"]

LOOKED_AT = 3


class EntryScope:
    """Shows the gate the verified entries near a question (a `ScopeSource`)."""

    def __init__(self, shelf: Shelf, language_of: Callable[[str], Language]) -> None:
        self._shelf = shelf
        self._language_of = language_of

    async def near(self, question: Encoded, /, *, tenant: str, group: str = "") -> Sequence[Neighbour]:
        """The nearest entries that the asker may read; none where a store or the encoder can't be asked."""
        shelf = {"tenant": tenant, "language": self._language_of(question.text), "group": group}
        try:
            if exact := await self._shelf.exact(question, **shelf):
                return [_neighbour(question, exact.phrasing, 1.0, exact.entry.id)]
            found = await self._shelf.by_evidence(question, limit=LOOKED_AT, **shelf)
        except (IndexUnavailable, EncoderError, DatabaseUnavailable):
            return ()
        return [
            _neighbour(question, candidate.phrasing, candidate.evidence.best, candidate.entry.id)
            for candidate in found
        ]


def _neighbour(question: Encoded, phrasing: str, similarity: float, entry: str) -> Neighbour:
    return Neighbour(
        kind="entry",
        text=phrasing,
        similarity=similarity,
        lexical=lexical_share(question.text, phrasing),
        label="must",
        source=entry,
    )
