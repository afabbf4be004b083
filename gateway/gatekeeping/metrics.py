"""What the gate counts beside its verdicts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

__all__ = ["GateMetrics"]


class GateMetrics:
    """Metrics of what is around the gate, named once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"sekisho_gate_{name}", what, labels, registry=registry)

        def gauge(name: str, what: str, *labels: str) -> Gauge:
            return Gauge(f"sekisho_gate_{name}", what, labels, registry=registry)

        self.detectors = counter(
            "detectors_total", "Further judges: clear, flagged, failed.", "detector", "result"
        )
        self.llm = counter("llm_total", "Unsure questions sent to a language model, by its reply.", "result")
        self.lessons = counter("lessons_total", "Refits: learnt, failed, stopped_by_canary.", "state")
        self.behind = gauge("behind", "1: what was accepted, or imported, is not in force.", "tenant")
        self.canaries_asked = gauge("canaries_asked", "Must-canaries of the last round.", "tenant")
        self.canaries_lost = gauge("canaries_lost", "Must-canaries that did not pass.", "tenant")
