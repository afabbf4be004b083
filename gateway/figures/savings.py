"""What the cache spares: what its hits would have cost if RAG had answered them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.figures.definitions import FIGURES
from gateway.figures.hours import Count
from gateway.settings import PriceSettings

__all__ = ["Savings", "savings_of"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """An estimate: every hit counts like the mean question of the same view that went to RAG.

    None where no question went there, the chatbot counts no tokens, or no price was set.
    """

    hits: int
    ms: float | None  # of waiting for RAG and for the check of its draft
    tokens_in: float | None
    tokens_out: float | None
    cost: float | None
    currency: str | None


def savings_of(counts: Iterable[Count], price: PriceSettings | None) -> Savings:
    """What the hits among these counts spared."""
    all_counts = list(counts)
    hits = sum(one.n for one in all_counts if FIGURES["cache_hits"].counted.include(one))
    drafted = sum(one.drafted for one in all_counts)
    metered = sum(one.metered for one in all_counts)
    read = _spared(hits, sum(one.tokens_in for one in all_counts), metered)
    written = _spared(hits, sum(one.tokens_out for one in all_counts), metered)
    known = price is not None and read is not None and written is not None
    return Savings(
        hits=hits,
        ms=_spared(hits, sum(one.drafted_ms for one in all_counts), drafted),
        tokens_in=read,
        tokens_out=written,
        cost=(read * price.input + written * price.output) / _MILLION if known else None,  # type: ignore[operator, union-attr]
        currency=price.currency if price else None,
    )


def _spared(hits: int, total: float, n: int) -> float | None:
    return hits * total / n if n else None
