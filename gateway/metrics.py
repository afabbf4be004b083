"""What Prometheus may ask for: every metric of the process, under its name."""

from __future__ import annotations

from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from gateway.checking.metrics import CheckMetrics
from gateway.gatekeeping.metrics import GateMetrics
from gateway.rag.metrics import RetrievalMetrics

__all__ = ["Metrics"]

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
        self._unasked(registry)
        self._streams(registry)
        self._gauges(registry)
        self.gatekeeping = GateMetrics(registry)
        self.checking = CheckMetrics(registry)
        self.retrieval = RetrievalMetrics(registry)
        self._process(registry)
        self._begin_at_zero()

    def _unasked(self, registry: CollectorRegistry) -> None:
        """What was answered although nobody asked anything."""
        self.front_end_tasks = Counter(
            "sekisho_front_end_tasks_total",
            "Titles, tags and the like that front ends asked for.",
            ("front_end",),
            registry=registry,
        )

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
        self.hung_up = Counter(
            "sekisho_askers_left_total", "Askers who left before anything was decided.", registry=registry
        )

    def _gauges(self, registry: CollectorRegistry) -> None:
        """What is so at the moment; asked for when Prometheus asks."""

        def gauge(name: str, what: str, *labels: str) -> Gauge:
            return Gauge(f"sekisho_{name}", what, labels, registry=registry)

        self.open_tickets = gauge("open_tickets", "Tickets waiting for a person.")
        self.overdue_tickets = gauge("overdue_tickets", "Tickets that wait longer than was promised.")
        self.ready = gauge("ready", "1: the part works; database, writing, index, encoder, upstream.", "part")
        self.open_audits = gauge("cache_audits_open", "Hits waiting for a reviewer's verdict.")
        self.error_bound = gauge(
            "cache_error_bound", "At most so many wrong answers per request.", "tenant", "language"
        )
        self.target_error = gauge("cache_target_error", "The promised bound: cache.target_error.")
        self.deliveries = gauge("deliveries", "Deliveries that are waiting or dead.", "state")
        self.alarm = gauge(
            "cache_alarm", "1: error (the target was passed), drift.", "kind", "tenant", "language"
        )

    def _process(self, registry: CollectorRegistry) -> None:
        """Which program runs here, and what it takes of the machine.

        Not when each series began: that would be a gauge beside every one.
        """
        disable_created_metrics()  # type: ignore[no-untyped-call]
        Info("sekisho_build", "The version that runs.", registry=registry).info(
            {"version": version("sekisho")}
        )
        PlatformCollector(registry=registry)
        ProcessCollector(registry=registry)

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

    def stage_failed(self, error: str, cause: str) -> None:
        """Count a question that was escalated as a stage broke; causes that nobody foresaw are one."""
        self.failures.labels(error, cause if cause in ("", *_CAUSES) else "other").inc()

    def delivered(self, target: str, result: str) -> None:
        """Count an attempt to tell somebody outside: sent, failed, dead."""
        self.attempts.labels(target, result).inc()
