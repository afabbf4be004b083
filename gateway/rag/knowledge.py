"""Our own documents as the chatbot: find passages, judge them, write from the good ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from classifiers.retrieval import PassageEvidence, RelevanceJudge, RelevanceVerdict
from encoders import Encoded
from gateway.domain import Draft, Hear, NothingRelevant, Passage, Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.passages import PassageSearch, RetrievedPassage
from gateway.rag.writer import Writer
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["KnowledgeRag"]

RETRIEVED = 8
WRITTEN_FROM = 4
WORTH_READING = 0.4  # of the best passage's score; weaker ones only distract the writer


class KnowledgeRag:
    """Answers from the documents, or says that they hold nothing relevant."""

    def __init__(self, search: PassageSearch, judge: RelevanceJudge, writer: Writer) -> None:
        self._search = search
        self._judge = judge
        self._writer = writer

    async def ask(
        self, question: Question, encoded: Encoded, /, hear: Hear | None = None
    ) -> Draft | NothingRelevant:
        """A draft with the passages it was written from.

        Raises:
            UpstreamUnavailable: documents or writer can't be asked.
            ClassifierError: the passages could not be judged.
        """
        found = await self._found(question, encoded)
        if not found:
            return NothingRelevant("the documents hold no passage like it")
        verdict = await self._judge.judge(encoded, [_evidence(passage) for passage in found])
        if verdict.label == "incorrect":
            return NothingRelevant(verdict.reason, _contexts(found[:WRITTEN_FROM]))
        passages = _worth_reading(found, verdict)
        draft = Draft(text="", contexts=_contexts(passages), model=self._writer.name)
        listen = partial(_heard, hear, draft) if hear else None
        text = await self._writer.write(question, encoded, passages, listen)
        if text is None:
            return NothingRelevant("the passages that were found do not hold an answer", draft.contexts)
        return replace(draft, text=text)

    async def close(self) -> None:
        """Close the writer's connections, if it has any."""
        await self._writer.close()

    async def _found(self, question: Question, encoded: Encoded) -> list[RetrievedPassage]:
        try:
            return await self._search.find(encoded, language=question.language, limit=RETRIEVED)
        except (IndexUnavailable, DatabaseUnavailable) as exc:
            raise UpstreamUnavailable("the documents can't be searched at present") from exc


def _worth_reading(found: Sequence[RetrievedPassage], verdict: RelevanceVerdict) -> list[RetrievedPassage]:
    """In the order of the search; a passage that the judge finds much weaker than the best is left out."""
    least = max(verdict.scores) * WORTH_READING
    kept = [passage for passage, score in zip(found, verdict.scores, strict=True) if score >= least]
    return kept[:WRITTEN_FROM]


def _heard(hear: Hear, draft: Draft, text: str) -> None:
    hear(replace(draft, text=text))


def _evidence(passage: RetrievedPassage) -> PassageEvidence:
    return PassageEvidence(text=passage.shown, similarity=passage.similarity, bm25=passage.bm25)


def _contexts(passages: Sequence[RetrievedPassage]) -> tuple[Passage, ...]:
    return tuple(
        Passage(text=passage.shown, source=passage.path, title=passage.heading, score=passage.score)
        for passage in passages
    )
