"""Whether the checkpoint does its job: every figure of a view, live, each leading to its questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui
from nicegui.events import EChartPointClickEventArguments, ValueChangeEventArguments

from classifiers.faithfulness.promise import CalibratedJudge
from gateway.console.components import charts
from gateway.console.components.amounts import share
from gateway.console.components.empty import empty
from gateway.console.figures import lists
from gateway.console.figures.cards import Cards
from gateway.console.figures.seen import DAYS, Seen, is_dark, seen_by
from gateway.console.visit import Visit
from gateway.figures.report import Report
from languages.identification import LANGUAGES

__all__ = ["show"]

REFRESH_S = 10.0
PATH = "/dashboard"


async def show(visit: Visit) -> None:
    """The dashboard."""
    seen = seen_by(visit)
    _filters(visit, seen)
    body = ui.element("div").classes("stack")
    board = _Board(visit, seen, body, dark=await is_dark(visit))
    await visit.action(board.refresh, role="viewer")()
    ui.timer(REFRESH_S, visit.action(board.refresh, role="viewer"))


def _filters(visit: Visit, seen: Seen) -> None:
    t = visit.t

    def turn(**to: Any) -> None:
        ui.navigate.to(replace(seen, **to).address(PATH))

    def chosen(name: str) -> Callable[[ValueChangeEventArguments[Any]], None]:
        return lambda event: turn(**{name: event.value or None})

    with ui.element("div").classes("spread"):
        ui.label(t("pages.dashboard")).classes("title")
        with ui.element("div").classes("line"):
            tenants = [one.tenant for one in visit.person.memberships]
            if len(tenants) > 1:
                ui.select(
                    tenants, value=seen.tenant, label=t("dashboard.tenant"), on_change=chosen("tenant")
                ).props("dense outlined options-dense")
            languages = {"": t("dashboard.all_languages")} | {one: t(f"languages.{one}") for one in LANGUAGES}
            ui.select(languages, value=seen.language or "", on_change=chosen("language")).props(
                "dense outlined options-dense"
            )
            periods = {days: t(f"dashboard.period.{days}") for days in DAYS}
            ui.toggle(periods, value=seen.days, on_change=chosen("days")).props(
                "no-caps unelevated dense"
            ).classes("periods")


class _Board:
    """Everything below the filters; drawn again only where something was asked or decided meanwhile."""

    def __init__(self, visit: Visit, seen: Seen, body: ui.element, *, dark: bool) -> None:
        self._visit = visit
        self._seen = seen
        self._ink = charts.Ink.of(dark=dark)
        self._body = body
        self._shown: Report | None = None
        self._charts: dict[str, ui.echart] = {}

    async def refresh(self) -> None:
        """Read the figures again."""
        report = await self._visit.services.figures.report(self._seen.view())
        if self._shown is not None and _same(self._shown, report):
            return
        first, self._shown = self._shown is None or not self._charts, report
        if first:
            self._body.clear()
            with self._body:
                self._draw(report)
        else:
            self._redraw(report)

    def _draw(self, report: Report) -> None:
        if not report.rates["questions"].count:
            t = self._visit.t
            empty(t("dashboard.first_day"), t("dashboard.first_day_hint"), icon="insights")
            return
        self._first = ui.element("div").classes("figures first")
        self._then = ui.element("div").classes("figures then")
        with ui.element("div").classes("columns"):
            self._chart("fates", t_key="dashboard.fates", on_click=self._open_fate)
            self._chart("rates", t_key="dashboard.rates", on_click=self._open_rate)
        self._lists = ui.element("div").classes("columns")
        with ui.element("div").classes("columns"):
            self._chart("support", t_key="dashboard.support", on_click=self._open_support, note=self._cuts())
            self._languages = self._card("dashboard.by_language")
        self._redraw(report)

    def _redraw(self, report: Report) -> None:
        cards = Cards(self._visit.t, self._seen, report, self._canaries())
        for place, draw in ((self._first, cards.first), (self._then, cards.then)):
            place.clear()
            with place:
                draw()
        labels = [
            f"{step.begins:%H:%M}" if self._by_the_hour else f"{step.begins:%m-%d}" for step in report.steps
        ]
        t = self._visit.t
        self._plot("fates", charts.fates(t, self._ink, report.steps, labels))
        self._plot("rates", charts.rates(t, self._ink, report.steps, labels))
        self._plot("support", charts.support(self._ink, report.faithfulness))
        self._list(report)

    def _list(self, report: Report) -> None:
        t = self._visit.t
        self._lists.clear()
        with self._lists:
            with self._card("dashboard.reasons"):
                lists.reasons(t, self._seen, report)
            with ui.element("div").classes("stack"):
                with self._card("dashboard.latency"):
                    lists.latencies(t, report.times.outcomes, "outcomes", lists.OUTCOMES)
                with self._card("dashboard.stages"):
                    lists.latencies(t, report.times.stages, "stages", lists.STAGES)
        self._languages.clear()
        with self._languages:
            ui.label(t("dashboard.by_language")).classes("section")
            lists.languages(t, report)
            if report.wrong_answers.shelves:
                ui.label(t("dashboard.shelves")).classes("section")
                lists.shelves(t, report)

    def _card(self, title: str) -> ui.element:
        card = ui.element("section").classes("card stack")
        with card:
            ui.label(self._visit.t(title)).classes("section")
        return card

    def _chart(
        self,
        name: str,
        *,
        t_key: str,
        on_click: Callable[[EChartPointClickEventArguments], None],
        note: str = "",
    ) -> None:
        with self._card(t_key):
            self._charts[name] = ui.echart({}, on_point_click=on_click, renderer="svg").classes("chart")
            if note:
                ui.label(note).classes("quiet small")

    def _cuts(self) -> str:
        """Where the check cuts, if its cuts were calibrated by reviewers' verdicts."""
        t, services = self._visit.t, self._visit.services
        present = services.judge.cuts.present if isinstance(services.judge, CalibratedJudge) else {}
        if not present:
            return t("dashboard.own_cut")
        cuts = [f"{t.or_else(f'languages.{name}', name)} {cut:.2f}" for name, cut in sorted(present.items())]
        promised = share(services.settings.faithfulness.max_false_block)
        return t("dashboard.cuts", cuts=", ".join(cuts), share=promised)

    def _plot(self, name: str, options: dict[str, Any]) -> None:
        chart = self._charts[name]
        chart.options.clear()
        chart.options.update(options)
        chart.update()

    @property
    def _by_the_hour(self) -> bool:
        return self._seen.view().period.by_the_hour

    def _canaries(self) -> Any:
        reports = self._visit.services.gatekeeping.canaries.reports
        return reports.get(self._seen.tenant) or reports.get("default")

    def _open_fate(self, event: EChartPointClickEventArguments) -> None:
        self._open_step(event, charts.FATES)

    def _open_rate(self, event: EChartPointClickEventArguments) -> None:
        self._open_step(event, charts.RATES)

    def _open_step(self, event: EChartPointClickEventArguments, names: Sequence[str]) -> None:
        """The questions of one step and one series; both stand in the chart, whatever the browser says."""
        t, report = self._visit.t, self._shown
        by_title = {t(f"figures.{name}.name"): name for name in names}
        name = by_title.get(event.series_name)
        if report is None or name is None or not 0 <= event.data_index < len(report.steps):
            return
        narrowed = replace(self._seen, begins=report.steps[event.data_index].begins)
        ui.navigate.to(narrowed.address("/questions", figure=name))

    def _open_support(self, event: EChartPointClickEventArguments) -> None:
        ui.navigate.to(self._seen.address("/questions", faithfulness_bin=event.data_index))


def _same(one: Report, other: Report) -> bool:
    """Whether nothing happened between two reports; that time went on is nothing."""
    return replace(one, view=other.view) == other
