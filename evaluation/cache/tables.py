"""What was served of pairs and of traffic, as tables for people."""

from __future__ import annotations

from rich.table import Column, Table

from evaluation.cache.judging import PairsResult, TrafficResult
from evaluation.command_line import BASELINE, latency

__all__ = ["pairs_table", "traffic_table"]


def pairs_table(result: PairsResult) -> list[Table]:
    """Reuse served, traps fallen into, by kind of pair; below it what simpler shelves would do."""
    whole = Table(
        "shelf",
        "of the reusable, served",
        "of the traps, served (wrong)",
        title=f"{result.n} pairs, each alone on its shelf",
    )
    for name, (reuse, traps) in result.shelves().items():
        whole.add_row(name, str(reuse), str(traps), style="" if name == "Sekisho" else BASELINE)
    kinds = Table(Column("category", no_wrap=True), "pairs", "may reuse", "served", title="by category")
    for category, part in sorted(result.by_category().items()):
        kinds.add_row(category, str(part.served.n), part.kind, str(part.served))
    kinds.caption = latency(result.as_json())
    return [whole, kinds]


def traffic_table(result: TrafficResult) -> list[Table]:
    """What a fresh FAQ serves of its traffic, at the cut it gets for the stated target."""
    table = Table(
        "shelf", "in scope, served right", "wrong per request", "wrong per hit", "near served", "far served",
        title=f"{result.entries} entries, {len(result.asked)} requests, target {result.target_error:.1%}",
    )  # fmt: skip
    for name, rates in result.shelves().items():
        table.add_row(name, *(str(rate) for rate in rates), style="" if name == "Sekisho" else BASELINE)
    table.caption = f"{result.cut}\n{latency(result.as_json())}"
    return [table]
