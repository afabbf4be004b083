"""Results as tables for people: rates with Wilson 95 % intervals, worst first, beside trivial baselines."""

from __future__ import annotations

from typing import Any

from rich.table import Column, Table

from evaluation.faithfulness import FaithfulnessResult
from evaluation.followups import FollowUpsResult
from evaluation.shelf import PairsResult, TrafficResult

__all__ = ["BASELINE", "faithfulness_table", "followups_table", "pairs_table", "traffic_table"]

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
    kinds.caption = _latency(result.as_json())
    return [whole, kinds]


def traffic_table(result: TrafficResult) -> list[Table]:
    """What a fresh FAQ serves of its traffic, at the cut it gets for the stated target."""
    table = Table(
        "shelf", "in scope, served right", "wrong per request", "wrong per hit", "near served", "far served",
        title=f"{result.entries} entries, {len(result.asked)} requests, target {result.target_error:.1%}",
    )  # fmt: skip
    for name, rates in result.shelves().items():
        table.add_row(name, *(str(rate) for rate in rates), style="" if name == "Sekisho" else BASELINE)
    table.caption = f"{result.cut}\n{_latency(result.as_json())}"
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
    table.caption = _latency(found)
    return [table]


def faithfulness_table(result: FaithfulnessResult) -> list[Table]:
    """Our verdict beside flagging everything and beside RAGAS' rule on our own statements."""
    found = result.as_json()
    table = Table("", "F1", title=f"{found['n']} answers, {found['unfaithful']} of them unfaithful")
    table.add_row("Sekisho: block on any unsupported statement", _number(found["f1"]))
    table.add_row(
        "same statements, block below F = 0.8 (RAGAS' rule)", _number(result.f_threshold_f1()), style=BASELINE
    )
    table.add_row("flag everything", _number(found["flag_all_f1"]), style=BASELINE)
    rates = Table("", "rate and 95 % interval")
    for name, rate in result.rates().items():
        rates.add_row(name, str(rate))
    rates.add_row("recall at 5 % false blocks", _number(found["recall_at_5pct_false_block"]))
    rates.add_row("AUROC", _number(found["auroc"]))
    rates.add_row("AUROC within one generator", _number(found["auroc_within_group"]))
    rates.caption = _latency(found)
    groups = Table(
        Column("group", no_wrap=True), "answers", "unfaithful", "recall", "false blocks", title="by group"
    )
    for name, part in result.parts(lambda case: [case.group]).items():
        part_rates = part.rates()
        groups.add_row(
            name,
            str(len(part.judged)),
            str(part.as_json()["unfaithful"]),
            str(part_rates["recall"]),
            str(part_rates["false blocks"]),
        )
    return [table, rates, groups]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _latency(found: dict[str, Any]) -> str:
    return "p50 {p50} ms, p95 {p95} ms a case, one after the other".format(**found["latency_ms"])
