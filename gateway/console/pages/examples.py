"""What reviewers say the gate should have learnt: to accept or reject, with what it contradicts."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

from nicegui import ui

from gateway.console.components.chip import Tone, chip, with_topic
from gateway.console.components.confirm import confirmed
from gateway.console.components.empty import empty
from gateway.console.components.moments import dated, moment, when
from gateway.console.components.way import LABEL_TONES
from gateway.console.pages.ticket_parts import card
from gateway.console.visit import Visit
from gateway.gatekeeping.learning import LessonState
from gateway.gatekeeping.shadow import shadow_report
from gateway.review.gate_examples import ExampleState, GateExample

__all__ = ["show"]

PAGE = 50
SHADOWED = 5  # questions of rules in shadow
STATES: tuple[ExampleState, ...] = get_args(ExampleState)
LESSON_TONES: dict[LessonState, Tone] = {"learnt": "good", "failed": "bad", "stopped_by_canary": "warn"}


async def show(visit: Visit) -> None:
    """The candidates; `?state=accepted` shows what the gate has learnt."""
    await _Page(visit).build()


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.kept = visit.services.gatekeeping
        asked: Any = visit.query.get("state", "")
        self.state: ExampleState = asked if asked in STATES else "candidate"
        self.offset = 0

    async def build(self) -> None:
        t = self.visit.t
        with ui.element("div").classes("filters"):
            ui.label(t("pages.examples")).classes("title")
            self.count = ui.label().classes("quiet")
            ui.element("span").classes("push")
            names = {one: t(f"examples.states.{one}") for one in STATES}
            chosen = self.visit.action(lambda event: self._choose(event.value))
            ui.toggle(names, value=self.state, on_change=chosen).props("dense no-caps unelevated flat")
        with ui.element("div").classes("ticket"):
            self.list = ui.element("div").classes("stack")
            with ui.element("aside").classes("stack side"):
                self.side = ui.element("div").classes("stack")
                await self._shadow()
        await self._draw()
        ui.timer(5.0, self.visit.action(self._gate), immediate=False)

    async def _choose(self, state: ExampleState) -> None:
        self.state, self.offset = state, 0
        await self._draw()

    async def _turn(self, by: int) -> None:
        self.offset = max(0, self.offset + by)
        await self._draw()

    async def _draw(self) -> None:
        page = await self.kept.examples.list(
            self.visit.tenant, state=self.state, limit=PAGE, offset=self.offset
        )
        t = self.visit.t
        self.count.text = f"{page.total:,}"
        self.list.clear()
        with self.list:
            if not page.examples:
                empty(t("examples.empty"), t("examples.empty_hint"))
            for one in page.examples:
                self._example(one)
            if page.total > PAGE:
                self._pager(page.total)
        await self._gate()

    def _pager(self, total: int) -> None:
        with ui.element("div").classes("line pager"):
            for icon, by in (("chevron_left", -PAGE), ("chevron_right", PAGE)):
                button = ui.button(icon=icon, on_click=self.visit.action(partial(self._turn, by)))
                button.props("flat dense round").set_enabled(0 <= self.offset + by < total)

    def _example(self, one: GateExample) -> None:
        t = self.visit.t
        with ui.element("section").classes("card example").props(f"data-id={one.id}"):
            with ui.element("div").classes("line"):
                name = t(f"labels.{one.label}")
                chip(with_topic(t, name, one.topic), LABEL_TONES[one.label])
                ui.label(one.text).classes("strong grow")
                if self.visit.person.may("admin"):
                    self._decisions(one)
            if one.conflict:
                conflict = t("examples.conflict", label=t(f"labels.{one.conflict}"))
                ui.label(conflict).classes("small warn-text conflict")
            with ui.element("div").classes("line quiet small"):
                zone = self.visit.zone
                dated(ui.label(t("examples.by", name=one.by, at=moment(one.at, zone))), one.at)
                if one.decided_by and one.decided_at:
                    decided = t("examples.decided", name=one.decided_by, at=moment(one.decided_at, zone))
                    dated(ui.label(decided), one.decided_at)
                if one.ticket_id:
                    ui.link(one.ticket_id, f"/tickets/{one.ticket_id}").classes("accent mono")

    def _decisions(self, one: GateExample) -> None:
        if one.state == "candidate" and one.conflict != "must_not":
            self._button("examples.accept", "check", partial(self._accept, one))
        if one.state != "rejected":
            self._button("examples.reject", "close", partial(self._reject, one))

    def _button(self, text: str, icon: str, work: Any) -> None:
        button = ui.button(self.visit.t(text), icon=icon, on_click=self.visit.action(work, role="admin"))
        button.props("flat dense no-caps").classes(text.removeprefix("examples."))

    async def _accept(self, one: GateExample) -> None:
        """The gate is fitted again in the background; where the policy says otherwise, the admin is asked."""
        t = self.visit.t
        over = False
        if one.conflict:
            body = t("examples.conflict", label=t(f"labels.{one.conflict}"))
            over = await confirmed(t, t("examples.over_policy"), body, yes=t("examples.over_policy"))
            if not over:
                return
        await self.kept.examples.accept(
            self.visit.tenant, one.id, by=self.visit.person.name, over_policy=over
        )
        await self._decided("examples.accepted")

    async def _reject(self, one: GateExample) -> None:
        await self.kept.examples.reject(self.visit.tenant, one.id, by=self.visit.person.name)
        await self._decided("examples.rejected")

    async def _decided(self, text: str) -> None:
        if self.kept.learning:
            self.kept.learning.wake()
        await self._draw()
        self.visit.tell(self.visit.t(text))

    async def _gate(self) -> None:
        """How the gate last learnt, and whether its canaries pass."""
        self.side.clear()
        with self.side:
            self._lesson()
            self._canaries()

    async def _shadow(self) -> None:
        """What rules that are not enforced yet would have done."""
        t, database = self.visit.t, self.visit.services.stores.database
        report = await shadow_report(database, tenant=self.visit.tenant, rule=None, limit=SHADOWED)
        with card(t("examples.shadow"), name="shadow"):
            if not report.rules:
                ui.label(t("examples.no_shadow")).classes("quiet")
            for rule in report.rules:
                with ui.element("div").classes("line"):
                    chip(t.or_else(f"labels.{rule.label}", rule.label), "quiet")
                    ui.label(rule.rule).classes("mono small")
                    ui.label(t("questions.count", n=f"{rule.questions:,}")).classes("quiet small push")
            for one in report.questions:
                if one.question:
                    ui.label(one.question).classes("quoted small quiet")

    def _lesson(self) -> None:
        t = self.visit.t
        lesson = self.kept.learning.lessons.get(self.visit.tenant) if self.kept.learning else None
        with card(t("examples.lesson"), name="lesson"):
            if lesson is None:
                ui.label(t("examples.no_lesson")).classes("quiet")
                return
            with ui.element("div").classes("line"):
                chip(t(f"examples.lessons.{lesson.state}"), LESSON_TONES[lesson.state])
                ui.label(t("examples.learnt", n=lesson.examples)).classes("quiet")
            if lesson.reason:
                ui.label(lesson.reason).classes("mono small pre")

    def _canaries(self) -> None:
        t, reports = self.visit.t, self.kept.canaries.reports
        report = reports.get(self.visit.tenant, reports.get("default"))
        with card(t("examples.canaries"), name="canaries"):
            if report is None or not report.asked:
                ui.label(t("examples.no_canaries")).classes("quiet")
                return
            passed = report.asked - len(report.lost)
            with ui.element("div").classes("line"):
                chip(t("dashboard.passed", n=passed, asked=report.asked), "bad" if report.lost else "good")
                when(report.at, self.visit.zone).classes("quiet small")
            for lost in report.lost:
                ui.label(lost.question).classes("strong")
                ui.label(lost.reason).classes("mono small")
