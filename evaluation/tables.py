"""Results as tables for people: rates with Wilson 95 % intervals, worst first, beside trivial baselines."""

from __future__ import annotations

from typing import Any

from rich.table import Column, Table

from evaluation.followups import FollowUpsResult
from evaluation.shelf import PairsResult, TrafficResult

__all__ = ["BASELINE", "followups_table", "latency", "pairs_table", "traffic_table"]

BASELINE = "dim"


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


def followups_table(result: FollowUpsResult) -> list[Table]:
    """What is looked up though it depends on earlier turns, and held back though it does not."""
    found = result.as_json()
    table = Table(
        "",
        "dependent, looked up (missed)",
        "self-contained, held back",
        title=f"{found['n']} turns, {found['dependent']} of them dependent on earlier ones",
    )
    for name, (missed, held) in result.ways().items():
        table.add_row(name, str(missed), str(held), style="" if name == "Sekisho" else BASELINE)
    table.caption = latency(found)
    return [table]


def latency(found: dict[str, Any], *, at_once: int = 1) -> str:
    """Times of a case, as a caption."""
    how = "one after the other" if at_once == 1 else f"up to {at_once} at a time"
    return "p50 {p50} ms, p95 {p95} ms a case, {how}".format(how=how, **found["latency_ms"])
