"""Corrective RAG (Yan et al. 2024): from what a search found, and what a judge says of it, to what is read.

*Correct*: the passages without the strips that don't bear on the question. *Incorrect*: what a web search
finds, or nothing. *Ambiguous*: both. Without a web search and strips, passages stay as they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from classifiers.retrieval import RelevanceVerdict
from classifiers.retrieval.asking import coverage
from classifiers.retrieval.strips import refined
from gateway.documents.passages import RetrievedPassage
from gateway.domain import Correction, Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.websearch import WebSearch

__all__ = ["WRITTEN_FROM", "Corrected", "Corrective"]

WRITTEN_FROM = 4
WORTH_READING = 0.1  # of the best passage's score; weaker ones only distract the writer
FROM_WEB = 0.5  # share of the question's words that a page's words must hold to be written from
Web = Literal["off", "answered", "nothing", "failed"]


@dataclass(frozen=True, slots=True)
class Corrected:
    """What the answer is written from, best first; nothing where nothing is relevant."""

    passages: tuple[RetrievedPassage, ...]
    correction: Correction


class Corrective:
    """Acts on a judge's verdict. A web search that fails costs nothing but its passages."""

    def __init__(
        self,
        *,
        strips_from: float = 0.0,
        reads_ambiguous: bool = True,
        reads: int | None = WRITTEN_FROM,
        web: WebSearch | None = None,
        on_web_search: Callable[[Web], object] = lambda result: None,
    ) -> None:
        """Take what to do with passages.

        Args:
            strips_from: of the best strip's share of the question; 0 leaves passages whole.
            reads_ambiguous: whether an answer is written from ambiguous passages, too.
            reads: how many passages at most, the best ones; None: all, as they were found.
            web: where else to look.
            on_web_search: how a web search ended.
        """
        self._strips_from = strips_from
        self._reads_ambiguous = reads_ambiguous
        self._reads = reads
        self._web = web
        self._on_web_search = on_web_search

    async def corrected(
        self, question: Question, found: Sequence[RetrievedPassage], verdict: RelevanceVerdict
    ) -> Corrected:
        """The passages to write from, and what was done to get them."""
        own: list[RetrievedPassage] = []
        kept = 1.0
        if verdict.label == "correct" or (verdict.label == "ambiguous" and self._reads_ambiguous):
            whole = found if self._reads is None else _best(found, verdict.scores, self._reads)
            own = [self._refined(question, passage) for passage in whole]
            kept = _length(own) / max(1, _length(whole))
        others: list[RetrievedPassage] = []
        web: Web = "off"
        query = ""
        if self._web and verdict.label != "correct":
            web, query, others = await self._searched(self._web, question)
        correction = Correction(
            label=verdict.label, scores=verdict.scores, reason=verdict.reason, judge=verdict.judge,
            kept=kept, web=web, query=query,
        )  # fmt: skip
        return Corrected((*own, *others), correction)

    async def close(self) -> None:
        """Close the web search's connections, if there is one."""
        if self._web:
            await self._web.close()

    def _refined(self, question: Question, passage: RetrievedPassage) -> RetrievedPassage:
        if not self._strips_from:
            return passage
        return replace(passage, text=refined(question.text, passage.text, kept_from=self._strips_from))

    async def _searched(
        self, search: WebSearch, question: Question
    ) -> tuple[Web, str, list[RetrievedPassage]]:
        try:
            query, found = await search.find(question.text, language=question.language)
        except UpstreamUnavailable:
            self._on_web_search("failed")
            return "failed", "", []
        relevant = [page for page in found if coverage(question.text, page.shown) >= FROM_WEB]
        web: Web = "answered" if relevant else "nothing"
        self._on_web_search(web)
        return web, query, [self._refined(question, page) for page in relevant]


def _best(found: Sequence[RetrievedPassage], scores: Sequence[float], most: int) -> list[RetrievedPassage]:
    """By the judge's score, best first; a passage that is much weaker than the best is left out."""
    least = max(scores) * WORTH_READING
    ranked = sorted(zip(found, scores, strict=True), key=lambda of: -of[1])
    return [passage for passage, score in ranked if score >= least][:most]


def _length(passages: Sequence[RetrievedPassage]) -> int:
    return sum(len(passage.text) for passage in passages)
