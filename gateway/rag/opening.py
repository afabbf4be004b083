"""From settings to where drafts come from: the chatbot, or our own documents."""

from __future__ import annotations

from contextlib import AsyncExitStack

from classifiers.retrieval import RelevanceJudge
from classifiers.retrieval.asked import AskedQuery, AskedRelevance
from classifiers.retrieval.evidence import EvidenceJudge, EvidenceModel
from encoders.shipped import load_shipped_answering
from gateway.models.asked import AskedModel
from gateway.models.completions import ChatModel
from gateway.rag.corrective import Corrective
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.metrics import RetrievalMetrics
from gateway.rag.passages import PassageSearch
from gateway.rag.quoting import ExtractiveWriter
from gateway.rag.upstream import UpstreamRag
from gateway.rag.websearch import KeywordQuery, SearxngSearch
from gateway.rag.writer import LlmWriter, Writer
from gateway.settings import CorrectiveSettings, LlmSettings, UpstreamSettings
from gateway.stores import Stores, open_pair_model

__all__ = ["open_rag"]

READ_BEFORE = 8_192  # sentences with their questions: a repeated question costs no reading
MOST_TOKENS = 500  # of an evaluator's reply: a line for each of eight passages


async def open_rag(
    settings: UpstreamSettings, stores: Stores, metrics: RetrievalMetrics, stack: AsyncExitStack
) -> UpstreamRag | KnowledgeRag:
    """The configured chatbot, or our own documents with the configured corrections; `stack` closes it.

    Raises:
        ClassifierError: if the weights of the evaluator can't be read.
        EncoderError: if those of the model of answers can't be.
    """
    rag = (
        UpstreamRag.of(settings, extra_body=settings.extra_body)
        if settings.kind == "openai"
        else await _knowledge(settings, stores, metrics, stack)
    )
    stack.push_async_callback(rag.close)
    return rag


async def _knowledge(
    settings: UpstreamSettings, stores: Stores, metrics: RetrievalMetrics, stack: AsyncExitStack
) -> KnowledgeRag:
    search = PassageSearch(stores.database, stores.passage_index, stores.encoder.identity)
    writer = await _writer(settings, stores)
    evidence = EvidenceModel.load(encoder=stores.encoder.identity.name)
    evaluator = _evaluator(settings.corrective, evidence, metrics, stack)
    return KnowledgeRag(search, evaluator, writer, _corrective(settings, metrics, stack))


async def _writer(settings: UpstreamSettings, stores: Stores) -> Writer:
    if settings.writer:
        return LlmWriter(ChatModel.of(settings.writer))
    reader = await open_pair_model(load_shipped_answering, remembered=READ_BEFORE)
    return ExtractiveWriter(stores.model, reader)  # which remembers for itself


def _evaluator(
    settings: CorrectiveSettings, evidence: EvidenceModel, metrics: RetrievalMetrics, stack: AsyncExitStack
) -> RelevanceJudge:
    if settings.evaluator == "llm" and settings.llm:
        cuts = {"correct_from": settings.correct_from, "incorrect_below": settings.incorrect_below}
        return AskedRelevance(
            _asked(settings.llm, stack),
            EvidenceJudge(evidence),
            timeout_s=settings.llm.timeout_s,
            on_reply=lambda result: metrics.evaluator.labels(result).inc(),
            **{name: cut for name, cut in cuts.items() if cut is not None},
        )
    return EvidenceJudge(
        evidence, correct_from=settings.correct_from, incorrect_below=settings.incorrect_below
    )


def _corrective(upstream: UpstreamSettings, metrics: RetrievalMetrics, stack: AsyncExitStack) -> Corrective:
    settings = upstream.corrective
    reads_ambiguous = settings.reads_ambiguous
    if reads_ambiguous is None:
        reads_ambiguous = upstream.writer is not None
    if settings.evaluator == "off":
        return Corrective(reads_ambiguous=reads_ambiguous)
    web = None
    if settings.web:
        by_model = settings.web.rewrite == "llm" and settings.llm
        web = SearxngSearch(settings.web, AskedQuery(_asked(by_model, stack)) if by_model else KeywordQuery())
    return Corrective(
        strips_from=settings.strips_from,
        reads_ambiguous=reads_ambiguous,
        web=web,
        on_web_search=lambda result: metrics.web.labels(result).inc(),
    )


def _asked(settings: LlmSettings, stack: AsyncExitStack) -> AskedModel:
    model = ChatModel.of(settings)
    stack.push_async_callback(model.close)
    return AskedModel(model, most_tokens=MOST_TOKENS)
