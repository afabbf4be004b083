"""Where settings become a running gateway: the one place that puts things together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog
from prometheus_client import CollectorRegistry

from cache.errors import EntryConflict
from cache.trial import Trials
from encoders import Encoded, EncoderError, encode_one
from encoders.shipped import load_shipped_leaning
from gateway.background import Background, Loop, every
from gateway.checking.delivering import Delivering
from gateway.checking.drafts import DraftCheck
from gateway.checking.modes import TopicModes, patterns_without
from gateway.checking.opening import open_checking, verdict_policy
from gateway.desk import Desk, open_desk
from gateway.dry_run import DryRun, NoTickets, Unwatched
from gateway.figures.report import Figures
from gateway.gatekeeping.lists import denying_replies
from gateway.gatekeeping.opening import Gatekeeping, fit_apart, open_gate
from gateway.gatekeeping.turns import ConversationGate
from gateway.gatekeeping.words import word_cut
from gateway.handover import Handover
from gateway.metrics import Metrics
from gateway.models.completions import ChatModel
from gateway.offering.accepted import AcceptedOffers
from gateway.offering.near import NearQuestions
from gateway.people import People, open_people
from gateway.people.access import Keys
from gateway.people.names import check_names
from gateway.pipeline import Pipeline
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.opening import open_rag
from gateway.rag.upstream import UpstreamRag
from gateway.recording.outcomes import OutcomeLog
from gateway.recording.trying import TriedWrites
from gateway.replies import Replies
from gateway.retention.ageing import Ageing
from gateway.retention.erasing import Erasures
from gateway.review.audits import Audits
from gateway.review.audits.lookups import LookupLog, Rates
from gateway.review.entries.approval import Approvals
from gateway.review.entries.rereview import Overdue, review_overdue
from gateway.review.queue import Queue
from gateway.review.tickets import Tickets
from gateway.settings import (
    CacheSettings,
    Settings,
)
from gateway.stages import Judge, Rag, Watch
from gateway.stores import FOR_ONE_GATEWAY, Stores, open_pair_model, open_stores
from gateway.streaming import OBSERVED
from gateway.switched_off import NoCache, NoEncoder
from gateway.telemetry import Telemetry
from gateway.tracing.opening import open_tracing
from gateway.understanding import Understanding
from gateway.understanding.follow_ups import FollowUps
from gateway.understanding.vouching import Vouching
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

if TYPE_CHECKING:
    from gateway.tracing.otel import OtelTrace

__all__ = ["Services", "approvals_of", "assemble"]

REVIEWS_S = 3600.0  # days of review pass at midnight
CATCH_UP_S = 3.0  # entries written elsewhere (an import, another replica) are indexed this soon


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything a running gateway consists of."""

    settings: Settings
    version: str
    stores: Stores
    gatekeeping: Gatekeeping
    upstream: UpstreamRag | KnowledgeRag
    judge: Judge
    desk: Desk
    queue: Queue
    audits: Audits
    figures: Figures
    approvals: Approvals
    acceptances: AcceptedOffers
    erasures: Erasures
    keys: Keys
    people: People
    telemetry: Telemetry
    writes: TriedWrites
    background: Background
    trace: OtelTrace | None  # None where nobody asked for traces
    pipeline: Pipeline
    dry_run: DryRun
    probe: Encoded  # a question for readiness checks

    @property
    def tickets(self) -> Tickets:
        """The desk's tickets."""
        return self.desk.tickets


@asynccontextmanager
async def assemble(
    settings: Settings, *, around_rag: Callable[[Rag], Rag] = lambda rag: rag
) -> AsyncIterator[Services]:
    """A gateway that is ready: stores open, documents read, nothing left to index, the gate fitted.

    Args:
        around_rag: wraps the chatbot, for those who want to change what it says.

    Raises:
        ConfigurationError, DatabaseUnavailable, IndexUnavailable, EncoderError: naming what is wrong.
    """
    if settings.faithfulness.streaming == "observe":
        structlog.get_logger("sekisho").warning(OBSERVED)
    if settings.storage.for_one_gateway:
        structlog.get_logger("sekisho").warning(FOR_ONE_GATEWAY)
    async with AsyncExitStack() as stack:
        yield await _assembled(stack, settings, around_rag)


async def _assembled(stack: AsyncExitStack, settings: Settings, around_rag: Callable[[Rag], Rag]) -> Services:
    """The gateway; what must be closed, or runs in the background, is on the stack."""
    stores = await stack.enter_async_context(open_stores(settings))
    await _make_ready(settings, stores)
    metrics = Metrics(CollectorRegistry())
    background = Background(metrics.broken_loops)
    approvals = approvals_of(settings.cache, stores)
    acceptances = _acceptances(stores, approvals, metrics)
    gatekeeping = await stack.enter_async_context(open_gate(settings, stores, metrics.gatekeeping))
    upstream = open_rag(settings.upstream, stores, metrics.retrieval, stack)
    chatbot = around_rag(upstream)
    understanding = await _understanding(settings, stores, stack)
    checking = open_checking(
        settings.faithfulness, stores.database, stores.encoder, metrics.checking, background
    )
    judge = await stack.enter_async_context(checking)
    delivering = Delivering(settings, stores.encoder.identity, judge)
    lookups = _lookups(settings.cache, stores, metrics, delivering)
    audits = _audits(settings.cache, stores, delivering)
    desk = await stack.enter_async_context(open_desk(settings, stores, gatekeeping.examples, metrics))
    telemetry = _telemetry(settings, stores, metrics, lookups, acceptances, desk)
    queue = Queue(stores.database, stores.encoder, promise_hours=settings.review.promise_hours)
    loops = _loops(settings, stores, queue) | telemetry.loops | gatekeeping.loops | desk.loops
    for name, loop in loops.items():
        await stack.enter_async_context(background.running(name, loop))
    return Services(
        settings=settings,
        version=version("sekisho"),
        stores=stores,
        gatekeeping=gatekeeping,
        upstream=upstream,
        judge=judge,
        desk=desk,
        queue=queue,
        audits=audits,
        figures=_figures(settings, stores, audits),
        approvals=approvals,
        acceptances=acceptances,
        erasures=Erasures(stores.database),
        keys=Keys.of(settings.auth, stores.database),
        people=await open_people(settings, stores.database),
        telemetry=telemetry,
        writes=TriedWrites(stores.database),
        background=background,
        trace=await stack.enter_async_context(open_tracing(settings, version=version("sekisho"))),
        pipeline=_pipeline(settings, stores, understanding, gatekeeping, chatbot, judge, desk, telemetry),
        dry_run=_dry_run(settings, stores, understanding, gatekeeping, chatbot, judge),
        probe=await encode_one(stores.encoder, "Is anybody there?"),
    )


def _telemetry(
    settings: Settings,
    stores: Stores,
    metrics: Metrics,
    lookups: LookupLog | None,
    acceptances: AcceptedOffers,
    desk: Desk,
) -> Telemetry:
    outcomes = OutcomeLog(stores.database, on_lost=metrics.lost_outcomes.inc)
    heard = acceptances if settings.cache.offers else None
    return Telemetry(metrics, outcomes, lookups, heard, desk.given, texts=settings.logging.texts)


def _loops(settings: Settings, stores: Stores, queue: Queue) -> dict[str, Loop]:
    """What the stores need done for as long as the gateway runs, and the console."""
    shown = {"queue": queue.run} if settings.console.enabled else {}
    index = partial(
        every, CATCH_UP_S, stores.index_pending, first=False,
        expected=(DatabaseUnavailable, IndexUnavailable, EncoderError), event="the index is behind",
        log="sekisho.index",
    )  # fmt: skip
    reviews = partial(
        every, REVIEWS_S, partial(_ask_for_reviews, stores, settings.cache.overdue),
        expected=(DatabaseUnavailable, EntryConflict),  # a conflict: somebody edits one of them just now
        event="reviews not asked for", log="sekisho.review",
    )  # fmt: skip
    ageing = Ageing(stores.database, settings.retention)
    return {**shown, "ageing": ageing.run, "index": index, "reviews": reviews}


async def _ask_for_reviews(stores: Stores, overdue: Overdue) -> None:
    """Ask reviewers for entries whose day of review has come."""
    await review_overdue(stores.database, today=stores.entries.today, overdue=overdue)


def _pipeline(
    settings: Settings,
    stores: Stores,
    understanding: Understanding,
    gates: Gatekeeping,
    rag: Rag,
    judge: Judge,
    desk: Desk | None,
    watch: Watch,
) -> Pipeline:
    encoder = stores.encoder if _looks_at_vectors(settings) else NoEncoder()
    replies = Replies(settings.policy, settings.replies, by_rule=denying_replies(settings))
    return Pipeline(
        understanding=understanding,
        encoder=encoder,
        gate=ConversationGate(gates.gate, encoder, forbids=gates.forbids),
        cache=stores.shelf if settings.cache.enabled else NoCache(),
        rag=rag,
        check=DraftCheck(
            judge,
            verdict_policy(settings.faithfulness),
            timeout_s=settings.faithfulness.patience_s,
            modes=TopicModes(settings.review, word_cut(settings.understanding.default_language)),
        ),
        handover=Handover(
            desk.tickets if desk else NoTickets(), replies, _near_questions(settings.cache, stores)
        ),
        replies=replies,
        watch=watch,
        next_turn=desk.next_turn if desk else None,
        streaming=settings.faithfulness.streaming,
    )


def _dry_run(
    settings: Settings,
    stores: Stores,
    understanding: Understanding,
    gates: Gatekeeping,
    rag: Rag,
    judge: Judge,
) -> DryRun:
    pipeline = _pipeline(settings, stores, understanding, gates, rag, judge, None, Unwatched())
    return DryRun(settings, pipeline, gates.gate, stores.encoder, fit=partial(fit_apart, stores))


def _audits(settings: CacheSettings, stores: Stores, delivering: Delivering) -> Audits:
    return Audits(
        stores.database,
        stores.shelf,
        model=stores.shelf.made_for,
        delivering=delivering,
        on_breach=settings.on_breach,
    )


def _figures(settings: Settings, stores: Stores, audits: Audits) -> Figures:
    promise = timedelta(hours=settings.review.promise_hours)
    return Figures(stores.database, audits, price=settings.upstream.price, promise=promise)


def _lookups(
    settings: CacheSettings, stores: Stores, metrics: Metrics, delivering: Delivering
) -> LookupLog | None:
    if not settings.enabled:
        return None
    rates = Rates(
        vector=settings.audit_rate,
        exact=settings.audit_rate_exact,
        rag=settings.audit_rate_rag,
        first=settings.audit_first,
    )
    return LookupLog(
        stores.database,
        stores.shelf,
        model=stores.shelf.made_for,
        delivering=delivering,
        rates=rates,
        on_lost=metrics.lost_lookups.inc,
    )


def approvals_of(settings: CacheSettings, stores: Stores) -> Approvals:
    """Who looks at an entry before it is served on these stores."""
    trials = Trials(stores.shelf, stores.entries, stores.entry_index, stores.encoder)
    return Approvals(stores.database, trials, stores.encoder, on_collision=settings.on_collision)


def _acceptances(stores: Stores, approvals: Approvals, metrics: Metrics) -> AcceptedOffers:
    lost = metrics.lost_acceptances.inc
    return AcceptedOffers(stores.database, stores.entries, approvals.suggestions, on_lost=lost)


def _near_questions(settings: CacheSettings, stores: Stores) -> NearQuestions | None:
    if not settings.offers:
        return None
    return NearQuestions(stores.shelf, stores.encoder)


def _looks_at_vectors(settings: Settings) -> bool:
    """Whether any stage does; if none, no question is encoded for nothing."""
    return settings.gate.enabled or settings.cache.enabled or settings.upstream.kind == "knowledge"


async def _make_ready(settings: Settings, stores: Stores) -> None:
    """Check who has which name, read the documents, and index what is not indexed yet."""
    await check_names(stores.database, settings.auth)
    structlog.get_logger("sekisho.cache").info("languages", judged_by=stores.shelf.covers)
    report = await stores.documents.ingest([settings.path(root) for root in settings.policy.must.documents])
    log = structlog.get_logger("sekisho.documents")
    for refused in report.refused:
        log.warning("document refused", file=str(refused))
    for was, now in report.renamed.items():
        log.info("document renamed", was=was, now=now)
    for warning in patterns_without(report.names, settings):
        log.warning(warning)
    await stores.catch_up()


async def _understanding(settings: Settings, stores: Stores, stack: AsyncExitStack) -> Understanding:
    chosen = settings.understanding
    model = ChatModel.of(chosen.llm) if chosen.llm else None
    if model:
        stack.push_async_callback(model.close)
    leaning = await open_pair_model(load_shipped_leaning, remembered=settings.encoder.remembered)
    return Understanding(
        FollowUps(leaning, chosen.follow_ups),
        model,
        max_questions=chosen.max_questions,
        default_language=chosen.default_language,
        vouching=Vouching(stores.shelf, stores.encoder) if settings.cache.enabled else None,
        **({"rewrite_timeout_s": chosen.llm.timeout_s} if chosen.llm else {}),
    )
