"""What our own retrieval counts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

__all__ = ["RetrievalMetrics"]


class RetrievalMetrics:
    """Metrics of Corrective RAG, named once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, what: str, label: str) -> Counter:
            return Counter(f"sekisho_retrieval_{name}", what, (label,), registry=registry)

        self.verdicts = counter(
            "verdicts_total", "Questions by what was found: correct, ambiguous, incorrect.", "label"
        )
        self.evaluator = counter(
            "llm_calls_total", "The language model as evaluator: answered, unreadable, failed.", "result"
        )
        self.web = counter("web_searches_total", "Web searches: answered, nothing, failed.", "result")
        for result in ("answered", "unreadable", "failed"):
            self.evaluator.labels(result)
        for result in ("answered", "nothing", "failed"):
            self.web.labels(result)
