"""The figures of a report as cards: a value, how sure it is, its trend, and the way to its questions."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui import ui

from gateway.console.components.amounts import bounds, seconds, share
from gateway.console.components.chip import Tone
from gateway.console.components.figure import figure
from gateway.console.components.sparkline import sparkline
from gateway.console.figures.seen import Seen
from gateway.console.texts import Texts
from gateway.figures.rates import Rate
from gateway.figures.report import Report
from gateway.gatekeeping.canaries import CanaryReport

__all__ = ["Cards"]

FIRST = ("refused", "cache_hits")
THEN = ("rag", "withheld", "escalated", "unchecked")


@dataclass(frozen=True, slots=True)
class Cards:
    """Draws the cards of one report."""

    t: Texts
    seen: Seen
    report: Report
    canaries: CanaryReport | None

    def first(self) -> None:
        """The three numbers an owner asks for, and what they are of."""
        total = self.report.rates["questions"].count
        with self._card("questions", f"{total:,}", note=self._growth(total)):
            sparkline([step.rates["questions"].count for step in self.report.steps])
        for name in FIRST:
            self._rate(name, self.report.rates[name], trend=True)
        self._wrong()

    def then(self) -> None:
        """The others."""
        for name in THEN:
            self._rate(name, self.report.rates[name], trend=name != "unchecked")
        supported = self.report.faithfulness.supported
        self._plain("faithfulness", share(supported.value), bounds(self.t, supported))
        self._tickets()
        self._rate("thumbs_down", self.report.thumbs_down)
        self._rate("judged_wrong", self.report.judged_wrong)
        self._wrong_rag()
        self._saved()
        self._canaries()

    def _rate(self, name: str, rate: Rate, *, trend: bool = False) -> None:
        note = bounds(self.t, rate)
        with self._card(name, share(rate.value), note=note):
            if trend:
                self._trend(name, rate)

    def _trend(self, name: str, rate: Rate) -> None:
        before = self.report.before[name]
        if rate.value is not None and before.value is not None:
            delta = (rate.value - before.value) * 100
            key = "same" if abs(delta) < 0.05 else "up" if delta > 0 else "down"
            arrow = {"same": "→", "up": "↗", "down": "↘"}[key]
            shown = ui.label(f"{arrow} {abs(delta):.1f}").classes("trend")
            shown.tooltip(self.t(f"dashboard.{key}", delta=f"{abs(delta):.1f}"))
        sparkline([step.rates[name].value for step in self.report.steps])

    def _growth(self, total: int) -> str:
        before = self.report.before["questions"].count
        return f"{total / before - 1:+.0%}" if before else ""

    def _wrong(self) -> None:
        wrong = self.report.wrong_answers
        target = max((shelf.target_error for shelf in wrong.shelves), default=1.0)
        tone: Tone = "quiet"
        if wrong.upper is not None and wrong.judged:
            tone = "good" if wrong.upper <= target else "warn"
        if any(shelf.error_alarm for shelf in wrong.shelves):
            tone = "bad"
        said = {"confidence": f"{wrong.confidence:.0%}", "judged": wrong.judged, "wrong": wrong.wrong}
        note = self.t("dashboard.sure", **said) if wrong.judged else self.t("dashboard.nothing_judged")
        upper = share(wrong.upper) if wrong.requests else "–"
        self._plain("wrong", f"≤ {upper}" if upper != "–" else upper, note, tone=tone, behind="judged_wrong")

    def _wrong_rag(self) -> None:
        wrong = self.report.wrong_rag_answers
        said = {"confidence": f"{wrong.confidence:.0%}", "judged": wrong.judged, "wrong": wrong.wrong}
        note = self.t("dashboard.sure", **said) if wrong.judged else self.t("dashboard.nothing_judged")
        value = f"≤ {share(wrong.upper)}" if wrong.judged else "–"
        self._plain("rag_judged_wrong", value, note, behind="rag_judged_wrong")

    def _tickets(self) -> None:
        tickets = self.report.tickets
        late: Tone = "bad" if tickets.overdue else "quiet"
        note = (
            self.t("dashboard.overdue", n=tickets.overdue)
            if tickets.overdue
            else self.t("dashboard.none_overdue")
        )
        self._plain("tickets", f"{tickets.open + tickets.claimed:,}", note, tone=late, target="/")
        in_time = tickets.in_time
        note = self.t("dashboard.in_time", share=share(in_time.value)) if in_time.n else ""
        self._plain("wait", seconds(self.t, tickets.wait_p50_s), note, target="/?state=answered")

    def _saved(self) -> None:
        saved = self.report.savings
        note = self.t("dashboard.hits", n=f"{saved.hits:,}")
        spared = None if saved.ms is None else saved.ms / 1000
        self._plain("saved_time", seconds(self.t, spared), note, behind="cache_hits")
        if saved.cost is not None:
            self._plain("saved_cost", f"{saved.cost:,.2f} {saved.currency}", note, behind="cache_hits")
        elif saved.tokens_in is not None and saved.tokens_out is not None:
            self._plain(
                "saved_tokens", f"{saved.tokens_in + saved.tokens_out:,.0f}", note, behind="cache_hits"
            )

    def _canaries(self) -> None:
        found = self.canaries
        if found is None or not found.asked:
            self._plain("canaries", "–", self.t("dashboard.no_canaries"))
            return
        passed, lost = found.asked - len(found.lost), len(found.lost)
        note = self.t("dashboard.lost", n=lost) if lost else ""
        tone: Tone = "bad" if lost else "good"
        self._plain("canaries", f"{passed} / {found.asked}", note, tone=tone)

    def _plain(
        self, name: str, value: str, note: str, *, tone: Tone = "quiet", behind: str = "", target: str = ""
    ) -> None:
        leads = self.seen.address("/questions", figure=behind) if behind else target
        t = self.t
        figure(
            t(f"figures.{name}.name"),
            value,
            note=note,
            tone=tone,
            target=leads,
            help_text=t(f"figures.{name}.help"),
        ).props(f"data-figure={name}")

    def _card(self, name: str, value: str, *, note: str = "") -> ui.element:
        t = self.t
        leads = self.seen.address("/questions", figure=name)
        card = figure(
            t(f"figures.{name}.name"), value, note=note, target=leads, help_text=t(f"figures.{name}.help")
        )
        return card.props(f"data-figure={name}")
