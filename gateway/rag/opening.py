"""From settings to where drafts come from: the chatbot, or our own documents."""

from __future__ import annotations

from contextlib import AsyncExitStack

from classifiers.retrieval import RelevanceJudge
from classifiers.retrieval.asked import AskedQuery, AskedRelevance
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel
from gateway.rag.corrective import WRITTEN_FROM, Corrective
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.metrics import RetrievalMetrics
from gateway.rag.quoting import ExtractiveWriter
from gateway.rag.upstream import UpstreamRag
from gateway.rag.websearch import KeywordQuery, SearxngSearch
from gateway.rag.writer import LlmWriter, Writer
from gateway.settings import CorrectiveSettings, LlmSettings, UpstreamSettings
from gateway.stores import Stores

__all__ = ["open_rag"]

MOST_TOKENS = 500  # of an evaluator's reply: a line for each of eight passages


def open_rag(
    settings: UpstreamSettings, stores: Stores, metrics: RetrievalMetrics, stack: AsyncExitStack
) -> UpstreamRag | KnowledgeRag:
    """The configured chatbot, or our own documents with the configured corrections; `stack` closes it."""
    rag = (
        UpstreamRag.of(settings, extra_body=settings.extra_body)
        if settings.kind == "openai"
        else _knowledge(settings, stores, metrics, stack)
    )
    stack.push_async_callback(rag.close)
    return rag


def _knowledge(
    settings: UpstreamSettings, stores: Stores, metrics: RetrievalMetrics, stack: AsyncExitStack
) -> KnowledgeRag:
    judge = stores.reading
    if settings.corrective.evaluator == "llm" and settings.corrective.llm:
        judge = _asking(settings.corrective, settings.corrective.llm, judge, metrics, stack)
    writer = _writer(settings, stores, judge)
    return KnowledgeRag(stores.passages, judge, writer, _corrective(settings, metrics, stack))


def _writer(settings: UpstreamSettings, stores: Stores, judge: RelevanceJudge) -> Writer:
    if settings.writer:
        return LlmWriter(ChatModel.of(settings.writer))
    quotes_ambiguous = settings.corrective.reads_ambiguous is True
    return ExtractiveWriter(stores.encoder, judge, quotes_ambiguous=quotes_ambiguous)


def _asking(
    settings: CorrectiveSettings,
    llm: LlmSettings,
    otherwise: RelevanceJudge,
    metrics: RetrievalMetrics,
    stack: AsyncExitStack,
) -> RelevanceJudge:
    cuts = {"correct_from": settings.correct_from, "incorrect_below": settings.incorrect_below}
    return AskedRelevance(
        _asked(llm, stack),
        otherwise,
        timeout_s=llm.timeout_s,
        on_reply=lambda result: metrics.evaluator.labels(result).inc(),
        **{name: cut for name, cut in cuts.items() if cut is not None},
    )


def _corrective(upstream: UpstreamSettings, metrics: RetrievalMetrics, stack: AsyncExitStack) -> Corrective:
    settings = upstream.corrective
    # Who quotes judges for himself, each thing that is asked.
    reads = WRITTEN_FROM if upstream.writer else None
    reads_ambiguous = not upstream.writer or settings.reads_ambiguous is not False
    if settings.evaluator == "off":
        return Corrective(reads=reads, reads_ambiguous=reads_ambiguous)
    web = None
    if settings.web:
        by_model = settings.web.rewrite == "llm" and settings.llm
        web = SearxngSearch(settings.web, AskedQuery(_asked(by_model, stack)) if by_model else KeywordQuery())
    return Corrective(
        strips_from=settings.strips_from,
        reads=reads,
        reads_ambiguous=reads_ambiguous,
        web=web,
        on_web_search=lambda result: metrics.web.labels(result).inc(),
    )


def _asked(settings: LlmSettings, stack: AsyncExitStack) -> AskedModel:
    model = ChatModel.of(settings)
    stack.push_async_callback(model.close)
    return AskedModel(model, most_tokens=MOST_TOKENS)
