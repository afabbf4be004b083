"""Whether the documents answer a question: for the gate, and for who quotes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from classifiers import ClassifierError
from classifiers.gate import Neighbour
from classifiers.gate.lexical import lexical_share
from classifiers.retrieval import PassageEvidence, RelevanceJudge, RelevanceVerdict
from encoders import Encoded, EncoderError
from gateway.language import Language
from gateway.rag.passages import RETRIEVED, PassageSearch, RetrievedPassage
from storage.outages import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["AnsweringPassages", "OpenedLate", "evidence"]


def evidence(passages: Sequence[RetrievedPassage]) -> list[PassageEvidence]:
    """Passages as a judge sees them."""
    return [PassageEvidence(one.text, one.heading) for one in passages]


class OpenedLate:
    """A judge of passages whose model is read when it is first needed."""

    def __init__(self, opening: Callable[[], Awaitable[RelevanceJudge]]) -> None:
        self._opening = opening
        self._judge: RelevanceJudge | None = None
        self._lock = asyncio.Lock()

    async def opened(self) -> RelevanceJudge:
        """The judge itself.

        Raises:
            ClassifierError, EncoderError: naming what can't be read.
        """
        async with self._lock:
            if self._judge is None:
                self._judge = await self._opening()
            return self._judge

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        """As the judge itself does."""
        try:
            judge = await self.opened()
        except EncoderError as exc:
            raise ClassifierError(f"the passages can't be read: {exc}") from exc
        return await judge.judge(question, passages)


class AnsweringPassages:
    """The passages of the documents that answer, for the gate (an `Answering`)."""

    def __init__(
        self, search: PassageSearch, judge: RelevanceJudge, language_of: Callable[[str], Language]
    ) -> None:
        self._search = search
        self._judge = judge
        self._language_of = language_of

    async def answering(self, question: Encoded, /) -> Neighbour | None:
        """The passage that answers a question, if one does.

        Raises:
            ClassifierError: if the documents cannot be searched or read.
        """
        language = self._language_of(question.text)
        try:
            found = await self._search.find(question, language=language, limit=RETRIEVED)
        except (IndexUnavailable, DatabaseUnavailable) as exc:
            raise ClassifierError(f"the documents could not be searched: {exc}") from exc
        if not found:
            return None
        verdict = await self._judge.judge(question, evidence(found))
        if verdict.label != "correct":
            return None
        best, sure = found[verdict.best], verdict.scores[verdict.best]
        lexical = lexical_share(question.text, best.shown)
        return Neighbour("passage", best.shown, sure, lexical, "must", best.path)
