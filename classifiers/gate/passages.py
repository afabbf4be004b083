"""Documents as proof of scope: a question about what we hold is ours, though no example looks like it."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers import ClassifierError
from classifiers.gate import Neighbour
from classifiers.gate.lexical import Rarity, lexical_share
from encoders import Encoded
from storage.vectors import Found, IndexUnavailable, VectorIndex

__all__ = ["PassageScope"]

_PASSAGES = 8  # looked at by meaning, and as many by words


class PassageScope:
    """The passages nearest to a question by meaning and by words, as a `ScopeSource`."""

    def __init__(
        self,
        index: VectorIndex,
        rarity: Rarity | None = None,
        *,
        source_key: str = "source",
    ) -> None:
        self._index = index
        self._rarity = rarity
        self._source_key = source_key

    async def near(self, question: Encoded, /, *, tenant: str, group: str = "") -> Sequence[Neighbour]:
        """The passages that may hold the answer. Documents are shared by all tenants and groups.

        Raises:
            ClassifierError: if the index cannot be asked.
        """
        try:
            close = await self._index.nearest(question.vector, where={}, limit=_PASSAGES)
            worded = await self._index.matching(question.text, where={}, limit=_PASSAGES)
        except IndexUnavailable as exc:
            raise ClassifierError(f"the index of passages could not be asked: {exc}") from exc
        by_meaning = {found.id: found for found in close}
        # BM25 finds what the dense list leaves out; there its cosine is at most that list's last.
        farthest = min((found.score for found in close), default=0.0)
        extra = [found for found in worded if found.id not in by_meaning]
        return [
            *(self._neighbour(question, found, found.score) for found in close),
            *(self._neighbour(question, found, farthest) for found in extra),
        ]

    def _neighbour(self, question: Encoded, found: Found, similarity: float) -> Neighbour:
        return Neighbour(
            kind="passage",
            text=found.text,
            similarity=similarity,
            lexical=lexical_share(question.text, found.text, self._rarity),
            label="must",
            source=str(found.payload.get(self._source_key, "")),
        )
