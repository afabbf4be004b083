"""What stands below the charts: reasons, times, languages, and the bound shelf by shelf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nicegui import ui

from gateway.console.components.amounts import bounds, milliseconds, share
from gateway.console.components.chip import outcome_chip
from gateway.console.figures.seen import Seen, ended
from gateway.console.texts import Texts
from gateway.figures.report import ReasonRate, Report
from gateway.figures.times import Latency
from gateway.review.audits.windows import ShelfReport

__all__ = ["languages", "latencies", "reasons", "shelves"]

MOST_REASONS = 14
OUTCOMES = ("ground_truth", "confirmed_answer", "rag", "refused", "escalated", "withheld")
STAGES = ("gate", "cache", "rag", "faithfulness", "did_you_mean")


def reasons(t: Texts, seen: Seen, report: Report) -> None:
    """Every reason with its share; each leads to its questions."""
    most = max((one.rate.count for one in report.reasons), default=1)
    with ui.element("div").classes("reasons"):
        for one in report.reasons[:MOST_REASONS]:
            _reason(t, seen, one, widest=most)


def _reason(t: Texts, seen: Seen, one: ReasonRate, *, widest: int) -> None:
    target = seen.address("/questions", outcome=one.outcome, reason=one.reason)
    with ui.link(target=target).classes("reason"):
        outcome_chip(t, one.outcome)
        ui.label(ended(t, one.reason)).classes("reason-name")
        with ui.element("div").classes("reason-bar"):
            ui.element("div").style(f"width:{one.rate.count / widest:.1%}")
        ui.label(f"{one.rate.count:,}").classes("number")
        ui.label(share(one.rate.value)).classes("number quiet")
        ui.tooltip(bounds(t, one.rate))


def latencies(t: Texts, times: Mapping[str, Latency], names: str, order: Sequence[str]) -> None:
    """Median and 95th percentile, by outcome or by stage, in the order of the way."""
    with ui.element("div").classes("grid-list three"):
        for heading in ("", t("dashboard.median"), t("dashboard.p95")):
            ui.label(heading).classes("quiet small" + (" number" if heading else ""))
        for name in sorted(times, key=lambda name: order.index(name) if name in order else len(order)):
            found = times[name]
            ui.label(t.or_else(f"{names}.{name}", name))
            ui.label(milliseconds(t, found.p50)).classes("number")
            ui.label(milliseconds(t, found.p95)).classes("number")


def languages(t: Texts, report: Report) -> None:
    """The main rates of each language that people ask in."""
    shown = ("cache_hits", "refused", "escalated", "withheld")
    with ui.element("div").classes("grid-list six"):
        for heading in ("", t("figures.questions.name"), *(t(f"figures.{name}.name") for name in shown)):
            ui.label(heading).classes("quiet small" + (" number" if heading else ""))
        for name, rates in report.languages.items():
            ui.label(t.or_else(f"languages.{name}", name))
            ui.label(f"{rates['questions'].count:,}").classes("number")
            for figure in shown:
                ui.label(share(rates[figure].value)).classes("number").tooltip(bounds(t, rates[figure]))


def shelves(t: Texts, report: Report) -> None:
    """What the audits say of each shelf since its present cut serves."""
    with ui.element("div").classes("grid-list five"):
        for shelf in report.wrong_answers.shelves:
            _shelf(t, shelf)


def _shelf(t: Texts, shelf: ShelfReport) -> None:
    by_meaning = shelf.wrong_per_request
    ui.label(t.or_else(f"languages.{shelf.language}", shelf.language))
    ui.label(f"≤ {share(by_meaning.upper)}").classes("number strong")
    seen = {"estimate": share(by_meaning.estimate), "confidence": f"{shelf.confidence:.0%}"}
    ui.label(t("dashboard.seen", **seen)).classes("quiet")
    ui.label(t("dashboard.target", target=share(shelf.target_error))).classes("quiet")
    judged = shelf.vector.right + shelf.vector.wrong + shelf.vector.unsure
    ui.label(t("questions.verdicts", n=judged)).classes("quiet")
