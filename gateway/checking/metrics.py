"""What the check counts beside its verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter

from classifiers.faithfulness.cascade import Decided
from gateway.models.completions import Completion
from gateway.settings.models import PriceSettings

__all__ = ["CheckMetrics"]

_MILLION = 1_000_000


class CheckMetrics:
    """Metrics of the judges of faithfulness, named once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"sekisho_faithfulness_{name}", what, labels, registry=registry)

        self.cascade = counter(
            "cascade_statements_total",
            "Statements of a cascade by who decided: first (local), second (the language model), nobody.",
            "decided",
        )
        self.calls = counter("llm_calls_total", "Calls of the language model: answered, failed.", "result")
        self.tokens = counter("llm_tokens_total", "Tokens of the language model.", "direction")
        self.cost = counter("llm_cost_total", "What they cost, where the price is configured.", "currency")

    def decided(self, by: Mapping[Decided, int]) -> None:
        """Count the statements of one answer."""
        for who, count in by.items():
            self.cascade.labels(who).inc(count)

    def asked(self, price: PriceSettings | None, completion: Completion | None) -> None:
        """Count one call; a model that doesn't say what it took is only counted as called."""
        self.calls.labels("answered" if completion else "failed").inc()
        tokens = completion.tokens if completion else None
        if tokens is None:
            return
        self.tokens.labels("read").inc(tokens.read)
        self.tokens.labels("written").inc(tokens.written)
        if price is not None:
            cost = (tokens.read * price.input + tokens.written * price.output) / _MILLION
            self.cost.labels(price.currency).inc(cost)
