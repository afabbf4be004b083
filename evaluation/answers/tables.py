"""A run as tables for people: figures with intervals, what could not be judged, what it cost."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from evaluation.answers.runs import Start
from evaluation.answers.summary import STOP_AT, Summary
from evaluation.statistics import Rate
from gateway.domain import Tokens
from gateway.settings import PriceSettings, Settings

__all__ = ["cost_line", "start_lines", "summary_tables"]

_MILLION = 1_000_000


def summary_tables(summary: Summary) -> list[Table]:
    """Metrics, the rule for stopping, who got an answer, and the question that nothing answers."""
    metrics = Table("metric", "mean", "95 % interval", "cases", "undetermined", title=_title(summary))
    for name in summary.metrics:
        found = summary.metric(name)
        interval = found.ci95
        metrics.add_row(
            name,
            "–" if found.mean is None else f"{found.mean:.3f}",
            f"[{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "–",
            str(len(found.values)),
            _reasons(found.reasons),
        )
    rates = Table("", "rate and 95 % interval")
    good = summary.good_is
    rates.add_row(f"good answers ({good.metric} ≥ {good.at_least:g})", str(summary.good))
    null = summary.null_context
    silent = null.declined_null
    rates.add_row("unanswerable, and left unanswered", str(Rate(silent, silent + null.answered_null)))
    rates.add_row("left unanswered, and unanswerable", str(Rate(silent, silent + null.declined_answerable)))
    rates.caption = _rule(summary)
    return [metrics, rates]


def start_lines(start: Start, n: int) -> list[str]:
    """What an earlier run spares, and what it does not and why."""
    told = {
        "done already": start.kept,
        "answered already, only measured again (another metric or judge)": start.measured_again,
        "changed since, run again": start.changed,
        "answered by another target or configuration, or failed: asked again": start.asked_again,
        "damaged lines left out": start.damaged,
    }
    return [f"{count} of {n} cases: {what}" for what, count in told.items() if count]


def cost_line(summary: Summary, settings: Settings, *, kept: int) -> str:
    """Tokens, and their price where the configuration says it."""
    llm = settings.evaluation.llm
    parts = [
        _cost("answers", summary.target_tokens, settings.upstream.price),
        _cost("judge", summary.judge_tokens, llm.price if llm else None),
    ]
    known = [part for part in parts if part]
    spared = f"; of {kept} cases not paid again" if kept and known else ""
    return ("cost: " + ", ".join(known) + spared) if known else "cost: no model counted tokens"


def _cost(what: str, tokens: Tokens, price: PriceSettings | None) -> str:
    if not (tokens.read or tokens.written):
        return ""
    told = f"{what} {tokens.read:,} tokens read, {tokens.written:,} written"
    if price is None:
        return f"{told} (no price set)"
    cost = (tokens.read * price.input + tokens.written * price.output) / _MILLION
    return f"{told}, {cost:,.4f} {price.currency}"


def _title(summary: Summary) -> str:
    outcomes = ", ".join(f"{n} {name}" for name, n in summary.outcomes.items())
    return f"{len(summary.seen)} cases: {outcomes}"


def _reasons(reasons: Mapping[str, int]) -> str:
    if not reasons:
        return "0"
    most = sorted(reasons.items(), key=lambda item: -item[1])[:3]
    return f"{sum(reasons.values())}: " + "; ".join(f"{n} {reason}" for reason, n in most)


def _rule(summary: Summary) -> str:
    if summary.stop:
        return f"the interval lies above {STOP_AT:.0%}: testing may stop"
    return f"not yet: testing may stop once the whole interval of good answers lies above {STOP_AT:.0%}"
