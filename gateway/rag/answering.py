"""Whether the documents answer a question: for the gate, and for who quotes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from classifiers import ClassifierError
from classifiers.gate import Neighbour
from classifiers.gate.documented import Read
from classifiers.gate.lexical import lexical_share
from classifiers.retrieval import PassageEvidence, RelevanceJudge
from encoders import Encoded
from gateway.documents.passages import RETRIEVED, PassageSearch, RetrievedPassage
from languages.identification import Language
from storage.outages import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["AnsweringPassages", "evidence"]


def evidence(passages: Sequence[RetrievedPassage]) -> list[PassageEvidence]:
    """Passages as a judge sees them."""
    return [PassageEvidence(one.text, one.heading) for one in passages]


class AnsweringPassages:
    """The passages of the documents that answer, for the gate (an `Answering`)."""

    def __init__(
        self, search: PassageSearch, judge: RelevanceJudge, language_of: Callable[[str], Language]
    ) -> None:
        self._search = search
        self._judge = judge
        self._language_of = language_of

    async def read(self, question: Encoded, /) -> Read | None:
        """The passage that likeliest answers a question; None without documents.

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
        best, sure = found[verdict.best], verdict.scores[verdict.best]
        lexical = lexical_share(question.text, best.shown)
        passage = Neighbour("passage", best.shown, sure, lexical, "must", best.path)
        return Read(passage, answers=verdict.label == "correct")
