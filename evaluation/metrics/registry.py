"""Which metrics there are, by name, and what they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from classifiers.asking import AsksModel
from encoders import Encoder
from evaluation.metrics import Metric
from evaluation.metrics.faithfulness import Faithfulness
from evaluation.metrics.similarity import SemanticSimilarity
from gateway.errors import InvalidRequest
from gateway.stages import Judge

__all__ = ["DEFAULT", "METRICS", "Judges", "open_metrics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Who judges: local by default; a language model where the configuration names one."""

    encoder: Encoder
    faithfulness: Judge
    faithfulness_version: str
    model: AsksModel | None = None


METRICS: Mapping[str, Callable[[Judges], Metric]] = {
    "faithfulness": lambda judges: Faithfulness(judges.faithfulness, version=judges.faithfulness_version),
    "semantic_similarity": lambda judges: SemanticSimilarity(judges.encoder),
}
DEFAULT: Sequence[str] = ("faithfulness", "semantic_similarity")


def open_metrics(names: Sequence[str], judges: Judges) -> tuple[Metric, ...]:
    """The metrics of these names, in this order.

    Raises:
        InvalidRequest: naming one that there is not, or that needs a language model where none is configured.
    """
    for name in names:
        if name not in METRICS:
            raise InvalidRequest(f"--metrics: there is no {name}; known: {', '.join(METRICS)}")
    return tuple(METRICS[name](judges) for name in dict.fromkeys(names))
