"""Metrics, logs and the record of outcomes: names, scores and hashes, texts only by setting."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from hashlib import sha256
from typing import TextIO, cast

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from cache.matching import Hit, Miss, NearMiss
from classifiers.faithfulness import Checked, Unchecked
from classifiers.gate import GateVerdict
from gateway.background import Loop
from gateway.checking.metrics import CheckMetrics
from gateway.domain import (
    Correction,
    Draft,
    Failed,
    Finding,
    NothingRelevant,
    Offers,
    Outcome,
    Question,
    Sent,
)
from gateway.errors import UpstreamUnavailable
from gateway.gatekeeping.metrics import GateMetrics
from gateway.offering.accepted import AcceptedOffers
from gateway.rag.metrics import RetrievalMetrics
from gateway.recording.failures import log_failure
from gateway.recording.outcomes import OutcomeLog, OutcomeRow
from gateway.retention.traces import asker_key
from gateway.review.audits.lookups import LookupLog
from gateway.review.feedback.given import GivenAnswers
from gateway.settings import LoggingSettings

__all__ = ["Metrics", "Telemetry", "configure_logging"]

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SHARES = tuple(step / 20 for step in range(21))
_CAUSES = (  # of a chatbot's failure that have a series of their own
    *(f"http_{status}" for status in (400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504)),
    "timeout", "unreachable", "broke_off", "unreadable", "no_text", "filtered", "left_alone", "contexts",
    "documents", "encoder", "other",
)  # fmt: skip


class Metrics:
    """Every metric of the process, named once. Shares are 0..1, times are seconds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"sekisho_{name}", what, labels, registry=registry)

        def histogram(name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"sekisho_{name}", what, labels, registry=registry, buckets=buckets)

        self.registry = registry
        self.outcomes = counter("outcomes_total", "Questions by outcome.", "outcome", "reason", "language")
        self.lookups = counter(
            "cache_lookups_total", "Cache: exact, vector, near_miss, miss, failed.", "result"
        )
        self.gate = counter("gate_verdicts_total", "Gate: must, may, must_not, unsure.", "label")
        self.gate_shadow = counter(
            "gate_shadow_total", "What rules in shadow mode would have said.", "rule", "label"
        )
        self.unchecked = counter("unchecked_total", "Drafts whose faithfulness was not checked.", "reason")
        self.failures = counter(
            "stage_failures_total", "Questions escalated as a stage broke, and why.", "error", "cause"
        )
        self.errors = counter("http_errors_total", "Requests answered with an error.", "code")
        self.lost_outcomes = counter(
            "outcomes_not_recorded_total", "Outcomes that could not be written to SQL."
        )
        self.faithfulness = histogram("faithfulness", "F of checked drafts.", _SHARES)
        self.stage = histogram("stage_seconds", "Time in a stage.", _SECONDS, "stage")
        self.question = histogram("question_seconds", "Time for a question.", _SECONDS, "outcome")
        self.lost_lookups = counter(
            "lookups_not_recorded_total", "Lookups that could not be counted for the audit."
        )
        self.lost_answers = counter(
            "answers_not_kept_total", "Answers that could not be kept for a thumbs down."
        )
        self.lost_acceptances = counter(
            "acceptances_not_kept_total", "Askers' yes to an offer that could not be kept."
        )
        self.attempts = counter(
            "delivery_attempts_total", "Attempts to tell somebody outside.", "target", "result"
        )
        self.broken_loops = counter(
            "background_failures_total", "Background work that broke and began again.", "loop"
        )
        self._streams(registry)
        self._gauges(registry)
        self.gatekeeping = GateMetrics(registry)
        self.checking = CheckMetrics(registry)
        self.retrieval = RetrievalMetrics(registry)
        self._begin_at_zero()

    def _streams(self, registry: CollectorRegistry) -> None:
        """Two clocks, named by OpenTelemetry's conventions: we are a model's client, and a server to ours."""
        self.upstream_first = Histogram(
            "gen_ai_client_operation_time_to_first_chunk_seconds",
            "Time to the chatbot's first words, where it was asked for a stream.",
            registry=registry,
            buckets=_SECONDS,
        )
        self.first_words = Histogram(
            "gen_ai_server_time_to_first_token_seconds",
            "Time to the first words of a streamed reply, by faithfulness.streaming.",
            ("mode",),
            registry=registry,
            buckets=_SECONDS,
        )
        self.held_for_contexts = Counter(
            "sekisho_streams_held_for_contexts_total",
            "Streams by sentence that waited for contexts that came after the words.",
            registry=registry,
        )
        self.left = Counter(
            "sekisho_askers_left_total", "Askers who left before anything was decided.", registry=registry
        )

    def _gauges(self, registry: CollectorRegistry) -> None:
        """What is so at the moment; asked for when Prometheus asks."""

        def gauge(name: str, what: str, *labels: str) -> Gauge:
            return Gauge(f"sekisho_{name}", what, labels, registry=registry)

        self.open_tickets = gauge("open_tickets", "Tickets waiting for a person.")
        self.overdue_tickets = gauge("overdue_tickets", "Tickets that wait longer than was promised.")
        self.ready = gauge("ready", "1: the part does its work; database, writing, index, encoder.", "part")
        self.open_audits = gauge("cache_audits_open", "Hits waiting for a reviewer's verdict.")
        self.error_bound = gauge(
            "cache_error_bound", "At most so many wrong answers per request.", "tenant", "language"
        )
        self.target_error = gauge("cache_target_error", "The promised bound: cache.target_error.")
        self.deliveries = gauge("deliveries", "Deliveries that are waiting or dead.", "state")
        self.alarm = gauge(
            "cache_alarm", "1: error (the target was passed), drift.", "kind", "tenant", "language"
        )

    def _begin_at_zero(self) -> None:
        """Prometheus sees no increase in a series that begins with its first event; alerts need these."""
        for result in ("exact", "vector", "near_miss", "miss", "failed"):
            self.lookups.labels(result)
        for code in ("ticket_not_stored", "store_unavailable", "internal_error"):
            self.errors.labels(code)
        for cause in _CAUSES:
            self.failures.labels("UpstreamUnavailable", cause)
        for error in ("ClassifierError", "EncoderError"):
            self.failures.labels(error, "")

    def delivered(self, target: str, result: str) -> None:
        """Count an attempt to tell somebody outside: sent, failed, dead."""
        self.attempts.labels(target, result).inc()


class Telemetry:
    """Is told every outcome. Counting never fails a question: nothing here waits or raises for it."""

    def __init__(
        self,
        metrics: Metrics,
        outcomes: OutcomeLog,
        lookups: LookupLog | None = None,
        acceptances: AcceptedOffers | None = None,
        given: GivenAnswers | None = None,
        *,
        texts: bool,
    ) -> None:
        self.metrics = metrics
        self._outcomes = outcomes
        self._lookups = lookups  # None where the cache is switched off
        self._acceptances = acceptances  # None where nothing is offered
        self._given = given
        self._texts = texts
        self._log = structlog.get_logger("sekisho")

    def outcome(self, outcome: Outcome, /, *, ms: float) -> None:
        """Count, log and record one outcome."""
        row = self._row(outcome, ms)
        self.metrics.outcomes.labels(outcome.name, outcome.reason, row.language).inc()
        self.metrics.question.labels(outcome.name).observe(ms / 1000)
        for step in outcome.steps:
            self.metrics.stage.labels(step.stage).observe(step.ms / 1000)
            self._found(step.found)
        self._outcomes.add(row)
        if self._lookups is not None:
            self._lookups.outcome(outcome)
        if self._acceptances is not None:
            self._acceptances.outcome(outcome)
        if self._given is not None:
            self._given.outcome(outcome)
        if self._log.is_enabled_for(logging.INFO):
            self._log.info("outcome", **row.for_the_log(texts=self._texts))

    @property
    def loops(self) -> dict[str, Loop]:
        """What writes the records for as long as the gateway runs; given answers are the desk's."""
        written = {"outcomes": self._outcomes, "lookups": self._lookups, "acceptances": self._acceptances}
        return {name: rows.run for name, rows in written.items() if rows is not None}

    async def flush(self) -> None:
        """Write what waits in the background. Raises `DatabaseUnavailable`, and then nothing is forgotten."""
        for waiting in (self._outcomes, self._lookups, self._acceptances, self._given):
            if waiting is not None:
                await waiting.flush()

    def failure(self, question: Question, exc: Exception, /) -> None:
        """A stage broke."""
        about = {"request_id": question.conversation.request_id}
        cause = ""
        if isinstance(exc, UpstreamUnavailable):
            about["cause"] = exc.cause
            cause = exc.cause if exc.cause in _CAUSES else "other"
        self.metrics.failures.labels(type(exc).__name__, cause).inc()
        log_failure(self._log, "stage failed", exc, **about)

    def left(self, question: Question, /) -> None:
        """An asker hung up before anything was decided: there is no outcome."""
        self.metrics.left.inc()

    def held_for_contexts(self, question: Question, /) -> None:
        """Sentences were ready before the contexts came: the stream was as good as buffered."""
        self.metrics.held_for_contexts.inc()
        request_id = question.conversation.request_id
        self._log.info("held for contexts", streaming="sentence", request_id=request_id)

    def first_words(self, mode: str, seconds: float) -> None:
        """The first words of a streamed answer left."""
        self.metrics.first_words.labels(mode).observe(seconds)

    def _found(self, found: Finding) -> None:
        match found:
            case GateVerdict(label=label, shadow=shadow):
                self.metrics.gate.labels(label).inc()
                for unenforced in shadow:
                    self.metrics.gate_shadow.labels(unenforced.rule, unenforced.label).inc()
            case Hit(tier=tier):
                self.metrics.lookups.labels(tier).inc()
            case NearMiss():
                self.metrics.lookups.labels("near_miss").inc()
            case Miss(lookup_failed=failed):
                self.metrics.lookups.labels("failed" if failed else "miss").inc()
            case Checked(faithfulness=share):
                self.metrics.faithfulness.observe(share)
            case Unchecked(reason=reason):
                self.metrics.unchecked.labels(reason).inc()
            case Draft(first_s=first_s, correction=correction):
                if first_s is not None:
                    self.metrics.upstream_first.observe(first_s)
                self._retrieved(correction)
            case NothingRelevant(correction=correction):
                self._retrieved(correction)
            case Offers() | Sent() | Failed():
                pass

    def _retrieved(self, correction: Correction | None) -> None:
        if correction:
            self.metrics.retrieval.verdicts.labels(correction.label).inc()

    def _row(self, outcome: Outcome, ms: float) -> OutcomeRow:
        question = outcome.question
        verdict = outcome.verdict
        findings = [step.found for step in outcome.steps]
        gate = next((found for found in findings if isinstance(found, GateVerdict)), None)
        tokens = next((found.tokens for found in findings if isinstance(found, Draft)), None)
        return OutcomeRow(
            tenant=question.tenant,
            group=question.group,
            request_id=question.conversation.request_id,
            question_hash=sha256(question.text.encode()).hexdigest(),
            question=question.text if self._texts or _would_be_forbidden(gate) else None,
            language=question.language,
            outcome=outcome.name,
            reason=outcome.reason,
            tier=next((found.tier for found in findings if isinstance(found, Hit)), None),
            entry_id=outcome.entry,
            ticket_id=outcome.ticket,
            faithfulness=verdict.faithfulness if isinstance(verdict, Checked) else None,
            unchecked=isinstance(verdict, Unchecked),
            gate_score=gate.score if gate else None,
            gate_label=gate.label if gate else None,
            gate_rule=gate.rule if gate else None,
            shadow=_shadow(gate),
            stage_ms={step.stage: round(step.ms, 3) for step in outcome.steps},
            ms=round(ms, 3),
            tokens_in=tokens.read if tokens else None,
            tokens_out=tokens.written if tokens else None,
            asker_key=asker_key(question.tenant, question.conversation.asker),
        )


def _shadow(gate: GateVerdict | None) -> list[dict[str, str | None]] | None:
    if gate is None or not gate.shadow:
        return None
    return [{"rule": one.rule, "label": one.label, "topic": one.topic} for one in gate.shadow]


def _would_be_forbidden(gate: GateVerdict | None) -> bool:
    """A reviewer can't judge a hash: what only shadow mode lets through is kept for them, as in tickets."""
    return gate is not None and any(one.label == "must_not" for one in gate.shadow)


class _Lenient:
    """Drops what its stream can't take: a full disk or a closed pipe must cost nobody an answer."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def configure_logging(settings: LoggingSettings) -> None:
    """One line per event on standard error, JSON or for people."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if settings.format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        logger_factory=structlog.WriteLoggerFactory(file=cast("TextIO", _Lenient(sys.stderr))),
        cache_logger_on_first_use=False,
    )
