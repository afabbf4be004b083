"""One entry: edited against the revision that was read, moved through its states, with its whole history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from nicegui import ui

from cache.entries import Entry, EntryState
from cache.errors import EntryConflict, EntryNotFound
from cache.store import TRANSITIONS
from encoders import EncoderError
from gateway.console.components.chip import state_chip
from gateway.console.components.confirm import confirmed
from gateway.console.components.diff import show_changes
from gateway.console.components.empty import empty
from gateway.console.components.moments import dated, moment
from gateway.console.pages.entry_form import Form
from gateway.console.pages.entry_parts import collisions_of, competing, history_of, suggestions_of
from gateway.console.pages.ticket_parts import card
from gateway.console.visit import Visit
from gateway.review.entries.approval import Approval, would_be
from gateway.review.entries.editing import edited, moved, phrased
from gateway.review.entries.provenance import in_present_version
from gateway.routes.refusals import index_now
from storage.vectors import IndexUnavailable

__all__ = ["show", "show_new"]

WATCH_S = 3.0  # how soon a reviewer sees what another did
SHOWN_RIVALS = 5
ICONS: dict[EntryState, str] = {
    "active": "check_circle", "paused": "pause", "stale": "history", "retired": "archive", "draft": "undo",
}  # fmt: skip


async def show(visit: Visit) -> None:
    """The entry of the address."""
    try:
        entry = await visit.services.stores.entries.get(visit.tenant, visit.params["entry_id"])
    except EntryNotFound:
        empty(visit.t("entry.unknown"), icon="search_off")
        return
    await _Page(visit, entry).build()


async def show_new(visit: Visit) -> None:
    """An entry to be written; it begins as a draft."""
    form = Form(visit, None)

    async def create() -> None:
        content = form.content()
        entries = visit.services.stores.entries
        content = replace(content, sources=await in_present_version(entries.db, content.sources))
        entry = await entries.create(visit.tenant, content, by=visit.person.name)
        ui.navigate.to(f"/entries/{entry.id}")

    with card(visit.t("pages.entry_new"), name="entry-form"):
        form.build()
        with ui.element("div").classes("line"):
            button = ui.button(visit.t("entry.create"), on_click=visit.action(create))
            button.props("unelevated no-caps").classes("save")


class _Page:
    def __init__(self, visit: Visit, entry: Entry) -> None:
        self.visit = visit
        self.entry = entry  # as it was read
        self.entries = visit.services.stores.entries
        self.told = entry.revision  # of the last change by another that was shown

    async def build(self) -> None:
        self.head = ui.element("div").classes("ticket-head")
        with ui.element("div").classes("ticket"):
            with ui.element("div").classes("stack"):
                self.notice = ui.element("div")
                self.middle = ui.element("div")
            with ui.element("aside").classes("stack side"):
                self.suggested = ui.element("div")
                self.rivals = ui.element("div")
                self.history = ui.element("div")
        await self._draw()
        on, act = self.visit.keys.on, self.visit.action
        on("u", "entry.back", lambda: ui.navigate.to("/entries"))
        if self.visit.person.may("reviewer"):
            on("e", "entry.edit", lambda: self.form.answer.run_method("focus"))
            on("s", "entry.save", act(self._save))
        ui.timer(0.1, act(self._rivals, role="viewer"), once=True)
        ui.timer(WATCH_S, act(self._watch, role="viewer"), immediate=False)

    async def _draw(self) -> None:
        """Everything again, as the entry stands now."""
        self.notice.clear()
        self.middle.clear()
        with self.middle, card(self.visit.t("pages.entry"), name="entry-form"):
            self.form = Form(self.visit, self.entry)
            self.form.build()
            if self.visit.person.may("reviewer"):
                with ui.element("div").classes("line"):
                    self._button("entry.save", self._save).props("unelevated").classes("save")
        await self._draw_around()

    async def _draw_around(self) -> None:
        """Head, suggestions and history; what is being written stays."""
        services = self.visit.services
        suggestions = await services.approvals.suggestions.list(
            self.visit.tenant, state="open", entry_id=self.entry.id
        )
        changes = await self.entries.history(self.visit.tenant, self.entry.id)
        for part in (self.head, self.suggested, self.history):
            part.clear()
        with self.head:
            self._head()
        with self.suggested:
            suggestions_of(self.visit, suggestions.suggestions, self._decide)
        with self.history:
            history_of(self.visit, changes)

    def _head(self) -> None:
        t, entry = self.visit.t, self.entry
        with ui.link(target="/entries").classes("go-back").props(f'aria-label="{t("pages.entries")}"'):
            ui.icon("arrow_back")
        state_chip(t, entry.standing(self.entries.today))
        ui.label(t("entry.at_revision", n=entry.revision)).classes("quiet revision")
        ui.label(entry.id).classes("mono faint small")
        ui.element("span").classes("push")
        if self.visit.person.may("reviewer"):
            for state in TRANSITIONS[entry.state]:
                button = self._button(f"entry.to.{state}", partial(self._move, state))
                button.props(f"flat dense icon={ICONS[state]}").classes(f"to-{state}")

    def _button(self, text: str, work: Callable[[], Awaitable[None]]) -> ui.button:
        return ui.button(self.visit.t(text), on_click=self.visit.action(work)).props("no-caps")

    async def _save(self) -> None:
        content = self.form.content()
        content = replace(content, sources=await in_present_version(self.entries.db, content.sources))
        shown = would_be(content, tenant=self.visit.tenant, entry_id=self.entry.id, state=self.entry.state)
        approval = await self._approval(shown)
        if approval is None:
            return
        before = self.entry
        try:
            self.entry = await edited(
                self.entries, approval, before, content, revision=before.revision, by=self.visit.person.name
            )
        except EntryConflict:
            await self._show_conflict()
            raise
        held = before.state == "active" and self.entry.state == "draft"
        await self._kept(approval, "entry.saved_as_draft" if held else "entry.saved")

    async def _move(self, state: EntryState) -> None:
        before, services = self.entry, self.visit.services
        approval = await self._approval(replace(before, state=state))
        if approval is None:
            return
        by = self.visit.person.name
        try:
            self.entry = await moved(
                self.entries, services.tickets, approval, before, state, revision=before.revision, by=by
            )
        except EntryConflict:
            await self._show_conflict()
            raise

        async def undo() -> None:
            await self._move(before.state)

        can_undo = before.state in TRANSITIONS[state]
        standing = self.entry.standing(self.entries.today)
        await self._kept(approval, f"entry.moved.{standing}", undo=undo if can_undo else None)

    async def _approval(self, entry: Entry) -> Approval | None:
        """The way to being served, after a look at what the entry would compete with; None: rather not."""
        approval, t = self.visit.services.approvals.begin(), self.visit.t
        if rivals := await approval.rivals(entry):
            lines = [competing(t, one) for one in rivals[:SHOWN_RIVALS]]
            body = t("ticket.competes_body") + "\n\n" + "\n".join(lines)
            if not await confirmed(t, t("ticket.competes"), body, yes=t("entry.all_the_same")):
                return None
            approval.accept()
        return approval

    async def _kept(
        self, approval: Approval, text: str, *, undo: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Index, note what was seen, show everything again and say so."""
        self.told = self.entry.revision
        indexed = await index_now(self.visit.services)
        await approval.tell(self.entry, by=self.visit.person.name)
        await self._draw()
        said = self.visit.t(text)
        self.visit.tell(said if indexed else f"{said} {self.visit.t('entry.not_indexed')}", undo=undo)
        await self._rivals()

    async def _watch(self) -> None:
        """Show what another changed meanwhile; what is being written stays."""
        now = await self.entries.get(self.visit.tenant, self.entry.id)
        if now.revision not in (self.entry.revision, self.told):
            await self._show_conflict()

    async def _show_conflict(self) -> None:
        t, read = self.visit.t, self.entry
        changes = await self.entries.history(self.visit.tenant, read.id)
        last = changes[-1]
        self.told = last.entry.revision

        async def take() -> None:
            self.entry = await self.entries.get(self.visit.tenant, read.id)
            await self._draw()

        async def keep() -> None:
            """What stands in the fields is written over what was read now; the history keeps both."""
            self.entry = last.entry
            self.notice.clear()
            await self._draw_around()

        self.notice.clear()
        with self.notice, ui.element("div").classes("notice conflict").props("role=alert"):
            ui.icon("group")
            with ui.element("div").classes("stack tight"):
                said = t("entry.meanwhile", name=last.by, at=moment(last.at, self.visit.zone))
                dated(ui.label(said), last.at).classes("strong")
                show_changes(t, read, last.entry)
                with ui.element("div").classes("line"):
                    self._button("entry.take_theirs", take).props("flat dense").classes("take")
                    self._button("entry.keep_mine", keep).props("flat dense").classes("keep")

    async def _rivals(self) -> None:
        """What it competes with; the page works without."""
        try:
            preview = await self.visit.services.approvals.preview(self.entry)
        except (IndexUnavailable, EncoderError):
            return
        self.rivals.clear()
        with self.rivals:
            collisions_of(self.visit, preview)

    async def _decide(self, suggestion_id: str, text: str, accepted: bool) -> None:
        """A suggestion becomes a phrasing, or goes; what is being written stays."""
        approvals, by = self.visit.services.approvals, self.visit.person.name
        if accepted:
            approval = approvals.begin(accept_collisions=False)
            self.entry = await phrased(self.entries, approval, self.entry, text, by=by)
            self.told = self.entry.revision
            await index_now(self.visit.services)
            self.form.add_phrasing(text)
        await approvals.suggestions.decide(
            self.visit.tenant, suggestion_id, "accepted" if accepted else "rejected", by=by
        )
        await self._draw_around()
        self.visit.tell(self.visit.t("entry.phrasing_added" if accepted else "entry.phrasing_rejected"))
