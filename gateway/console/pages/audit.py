"""Hits drawn at random, judged by one key each, and the bound on wrong answers that the verdicts give."""

from __future__ import annotations

from collections import deque
from typing import Any, Literal

from nicegui import ui

from cache.calibration.cuts import PAUSED
from cache.errors import CacheError
from gateway.console.components.amounts import share
from gateway.console.components.chip import Tone, chip
from gateway.console.components.empty import empty
from gateway.console.components.moments import when
from gateway.console.pages.ticket_parts import card, passages
from gateway.console.visit import Visit
from gateway.errors import Conflict, NotFound
from gateway.figures.people import wrong_rag_answers
from gateway.review.audits import Audit, pause_if_wrong
from gateway.review.audits.windows import AuditTier, ShelfReport, ShelfState, TopicReport
from gateway.routes.refusals import index_now
from languages.identification import LANGUAGES

__all__ = ["show"]

AHEAD = 50  # audits read at a time
SHOWN_TOPICS = 5
Said = Literal["right", "wrong", "misled", "unsure"]  # misled: wrong, though its passages say the same
KEYS: tuple[tuple[str, Said], ...] = (("y", "right"), ("n", "wrong"), ("m", "misled"), ("u", "unsure"))
BUTTONS: dict[Said, str] = {
    "right": "check", "wrong": "close", "misled": "menu_book", "unsure": "question_mark",
}  # fmt: skip
TIERS: dict[AuditTier, str] = {"exact": "same_words", "vector": "by_meaning", "rag": "by_rag"}
STANDING: dict[ShelfState, Tone] = {"kept": "good", "unproven": "quiet", "breached": "bad", "paused": "warn"}


async def show(visit: Visit) -> None:
    """The audit that has waited longest; `?language=ja` shows only those of a language."""
    await _Page(visit).build()


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        asked: str = visit.query.get("language", "")
        self.language: str = asked if asked in LANGUAGES else ""
        self.ahead: deque[Audit] = deque()
        self.shown: Audit | None = None  # the first of them, unless the page could not be drawn since
        self.busy = False
        self.done: list[tuple[str, tuple[str, int] | None]] = []  # audits, and entries they paused

    async def build(self) -> None:
        t = self.visit.t
        with ui.element("div").classes("filters"):
            ui.label(t("audit.title")).classes("title")
            self.waiting = ui.label().classes("quiet")
            ui.element("span").classes("push")
            names = {"": t("queue.any")} | {one: t(f"languages.{one}") for one in LANGUAGES}
            chosen = self.visit.action(lambda event: self._choose(event.value))
            select = ui.select(names, value=self.language, label=t("audit.language"), on_change=chosen)
            select.props("outlined dense options-dense").classes("filter language")
        self.now = ui.element("div").classes("audit-now")
        self.bound = ui.element("div")
        ui.link(t("audit.read_after"), "/?reason=answer_then_review").classes("accent small")
        await self._draw()
        for key, verdict in KEYS:
            self.visit.keys.on(
                key, f"audit.{verdict}", self.visit.action(lambda verdict=verdict: self._judge(verdict))
            )
        self.visit.keys.on("j", "audit.later", self.visit.action(self._later))
        self.visit.keys.on("z", "audit.back", self.visit.action(self._back))

    async def _choose(self, language: str) -> None:
        self.language = language
        self.ahead.clear()
        await self._draw()

    async def _draw(self) -> None:
        """The first that waits, how many there are, and what the verdicts so far show.

        All is read before anything is shown: a key pressed on a card that is there must count.
        """
        audits, t = self.visit.services.audits, self.visit.t
        await self._read_on()
        n = await audits.count_open(tenant=self.visit.tenant, language=self.language or None)
        reports = await audits.reports(tenant=self.visit.tenant)
        self.waiting.text = t("audit.waiting", n=f"{n:,}")
        self.shown = self._first()
        self.now.clear()
        with self.now:
            if self.shown:
                self._audit(self.shown)
            else:
                empty(t("audit.empty"), t("audit.empty_hint"))
        self.bound.clear()
        with self.bound, card(t("audit.bound"), name="bound"):
            _bounds(self.visit, reports)

    async def _read_on(self) -> None:
        """Those that wait longest: what was read before is judged by now, or gone."""
        if self.ahead:
            return
        page = await self.visit.services.audits.list(
            tenant=self.visit.tenant,
            verdict="open",
            language=self.language or None,
            limit=AHEAD,
        )
        self.ahead.extend(page.items)

    def _first(self) -> Audit | None:
        return self.ahead[0] if self.ahead else None

    def _audit(self, audit: Audit) -> None:
        t = self.visit.t
        with ui.element("section").classes("card audit").props(f"data-id={audit.id}"):
            with ui.element("div").classes("line quiet small"):
                chip(t(f"audit.{TIERS[audit.tier]}"), "calm")
                ui.label(t("audit.score", score=f"{audit.score:.3f}"))
                ui.label(t.or_else(f"languages.{audit.language}", audit.language))
                when(audit.at, self.visit.zone)
                if audit.entry_id:
                    ui.link(t("audit.open_entry"), f"/entries/{audit.entry_id}").classes("accent push")
            ui.label(t("audit.question")).classes("section")
            ui.label(audit.question).classes("big-question").props(f"lang={audit.language}")
            if audit.phrasing and audit.phrasing != audit.question:
                ui.label(t("audit.phrasing")).classes("section")
                ui.label(audit.phrasing).classes("quoted").props(f"lang={audit.language}")
            ui.label(t("audit.answer")).classes("section")
            ui.label(audit.answer).classes("pre served").props(f"lang={audit.language}")
            if audit.contexts:
                passages(self.visit, audit.contexts)
            self._verdicts(audit)

    def _verdicts(self, audit: Audit) -> None:
        with ui.element("div").classes("line verdicts"):
            for key, verdict in KEYS:
                if verdict != "misled" or audit.tier == "rag":
                    self._verdict_button(key, verdict)

    def _verdict_button(self, key: str, verdict: Said) -> None:
        work = self.visit.action(lambda: self._judge(verdict))
        button = ui.button(self.visit.t(f"audit.{verdict}"), icon=BUTTONS[verdict], on_click=work, color=None)
        with button.props("outline no-caps").classes(f"verdict {verdict}"):
            ui.label(key).classes("key")

    async def _judge(self, verdict: Said) -> None:
        """Keep the verdict; the next one follows at once."""
        if self.busy:  # a key pressed twice must not judge what nobody has seen yet
            return
        if self.shown is not self._first():
            await self._draw()
            return
        if self.shown is None or (verdict == "misled" and self.shown.tier != "rag"):
            return
        self.busy = True
        try:
            await self._judged(self.shown, verdict)
        finally:
            self.busy = False

    async def _judged(self, audit: Audit, verdict: Said) -> None:
        t, audits, by = self.visit.t, self.visit.services.audits, self.visit.person.name
        said: Any = {"verdict": "wrong", "faithful": True} if verdict == "misled" else {"verdict": verdict}
        try:
            judged = await audits.judge(audit.id, tenant=self.visit.tenant, **said, by=by)
        except (Conflict, NotFound) as exc:
            self.ahead.popleft()
            await self._draw()
            self.visit.tell(t("audit.taken" if isinstance(exc, Conflict) else "audit.erased"))
            return
        self.ahead.popleft()
        paused = await self._paused(judged)
        self.done.append((audit.id, paused))
        await self._draw()
        self.visit.tell(t("audit.paused" if paused else f"audit.judged.{verdict}"), undo=self._back)

    async def _paused(self, judged: Audit) -> tuple[str, int] | None:
        """The entry and its revision, if the verdict took it off the shelf."""
        entries, by = self.visit.services.stores.entries, self.visit.person.name
        if not await pause_if_wrong(entries, judged, asked=None, by=by):
            return None
        await index_now(self.visit.services)
        entry = await entries.get(judged.tenant, judged.entry_id)
        return entry.id, entry.revision

    async def _later(self) -> None:
        if self.ahead:
            self.ahead.rotate(-1)
            await self._draw()

    async def _back(self) -> None:
        """Take the last verdict back, and the pause that came of it; it is shown again."""
        if not self.done:
            return
        audit_id, paused = self.done.pop()
        by, services = self.visit.person.name, self.visit.services
        audit = await services.audits.reopen(audit_id, tenant=self.visit.tenant, by=by)
        self.ahead.appendleft(audit)
        await self._draw()
        self.visit.tell(self.visit.t("audit.taken_back"))
        if paused is not None:
            entry_id, revision = paused
            try:
                await services.stores.entries.change_state(
                    self.visit.tenant, entry_id, "active", revision=revision, by=by
                )
            except CacheError:  # changed since by another: their word stands
                return
            await index_now(services)


def _bounds(visit: Visit, reports: tuple[ShelfReport, ...]) -> None:
    """Shelf by shelf: the counts of the window, and the limits that they give."""
    t = visit.t
    if not reports:
        ui.label(t("audit.no_bound")).classes("quiet")
        return
    ui.label(t("audit.bound_hint")).classes("quiet small")
    with ui.element("div").classes("shelves"):
        for name in (
            "shelf",
            "standing",
            "lookups",
            "hits",
            "verdicts",
            "seen",
            "at_most",
            "exact",
            "target",
        ):
            ui.label(t(f"audit.{name}")).classes("quiet small head")
        for report in reports:
            _shelf(visit, report)
    rag = wrong_rag_answers(reports, None)
    if rag.judged:
        said = {"answers": f"{rag.answers:,}", "judged": rag.judged, "upper": share(rag.upper)}
        ui.label(t("audit.rag_bound", **said, estimate=share(rag.estimate))).classes("rag-bound")
    for report in reports:
        _topics(visit, report)


def _shelf(visit: Visit, report: ShelfReport) -> None:
    t, sample, bound = visit.t, report.vector, report.wrong_per_request
    with ui.label(t.or_else(f"languages.{report.language}", report.language)).classes("strong"):
        cut = t("states.paused") if report.cut >= PAUSED else f"{report.cut:.3f}"
        ui.tooltip(t("audit.since", cut=cut, date=report.since[:10] or t("audit.always")))
    chip(t(f"audit.states.{report.state}"), STANDING[report.state])
    ui.label(f"{report.requests:,}")
    ui.label(f"{sample.hits:,}")
    ui.label(f"{sample.right} · {sample.wrong} · {sample.unsure}")
    ui.label(share(bound.estimate))
    ui.label(share(bound.upper)).classes("strong upper").props(f"data-language={report.language}")
    ui.label(share(report.wrong_per_request_exact.upper))
    ui.label(share(report.target_error))


def _topics(visit: Visit, report: ShelfReport) -> None:
    """The documents whose entries were judged wrong most often."""
    wrong = [one for one in report.topics if one.wrong or one.unsure][:SHOWN_TOPICS]
    if not wrong:
        return
    language = visit.t.or_else(f"languages.{report.language}", report.language)
    ui.label(f"{visit.t('audit.topics')} · {language}").classes("section")
    for one in wrong:
        _topic(one)


def _topic(one: TopicReport) -> None:
    with ui.element("div").classes("line small"):
        ui.label(one.topic or "–")
        ui.label(f"{one.judged - one.wrong - one.unsure} · {one.wrong} · {one.unsure}").classes("quiet push")
        ui.label(share(one.wrong_per_request.upper)).classes("strong")
