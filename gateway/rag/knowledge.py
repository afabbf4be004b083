"""Our own documents as the chatbot: find passages, judge them, write from the good ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from classifiers.retrieval import RelevanceJudge
from encoders import Encoded
from gateway.documents.passages import RETRIEVED, PassageSearch, RetrievedPassage
from gateway.domain import Draft, NothingRelevant, OnDraft, Passage, Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.answering import evidence
from gateway.rag.corrective import WRITTEN_FROM, Corrective
from gateway.rag.writer import Writer
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["KnowledgeRag"]


class KnowledgeRag:
    """Answers from the documents, or says that they hold nothing relevant."""

    def __init__(
        self,
        search: PassageSearch,
        judge: RelevanceJudge,
        writer: Writer,
        corrective: Corrective | None = None,
    ) -> None:
        self._search = search
        self._judge = judge
        self._writer = writer
        self._corrective = corrective or Corrective()

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        """A draft with the passages it was written from.

        Raises:
            UpstreamUnavailable: documents or writer can't be asked.
            ClassifierError: the passages could not be judged.
        """
        found = await self._found(question, encoded)
        verdict = await self._judge.judge(encoded, evidence(found))
        corrected = await self._corrective.corrected(question, found, verdict)
        done = corrected.correction
        if not corrected.passages:
            reason = verdict.reason if found else "the documents hold no passage like it"
            return NothingRelevant(reason, _contexts(found[:WRITTEN_FROM]), done)
        contexts = _contexts(corrected.passages)
        draft = Draft(text="", contexts=contexts, model=self._writer.name, correction=done)
        on_text = partial(_pass_on, on_draft, draft) if on_draft else None
        written = await self._writer.write(question, encoded, corrected.passages, on_text)
        if written is None:
            doubted = verdict.label != "correct"
            reason = verdict.reason if doubted else "the passages that were found do not hold an answer"
            return NothingRelevant(reason, contexts, done)
        return replace(draft, text=written.text, unfinished=written.unfinished, unreadable=written.unreadable)

    @property
    def failing(self) -> bool:
        """Whether who writes the answers is left alone, as they failed again and again."""
        return self._writer.failing

    async def close(self) -> None:
        """Close the connections of the writer and of the web search, if there are any."""
        await self._corrective.close()
        await self._writer.close()

    async def _found(self, question: Question, encoded: Encoded) -> list[RetrievedPassage]:
        try:
            return await self._search.find(encoded, language=question.language, limit=RETRIEVED)
        except (IndexUnavailable, DatabaseUnavailable) as exc:
            raise UpstreamUnavailable("the documents can't be searched now", cause="documents") from exc


def _pass_on(on_draft: OnDraft, draft: Draft, text: str) -> None:
    on_draft(replace(draft, text=text))


def _contexts(passages: Sequence[RetrievedPassage]) -> tuple[Passage, ...]:
    return tuple(
        Passage(text=passage.shown, source=passage.path, title=passage.heading, score=passage.score)
        for passage in passages
    )
