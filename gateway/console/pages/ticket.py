"""One ticket: everything that is known of it on one side, the answer on the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from cache.entries import Entry
from cache.errors import EntryNotFound, InvalidEntry
from cache.matching import Candidate
from cache.store.content import Content
from encoders import EncoderError, encode_one
from gateway.console.components.chip import outcome_chip, state_chip
from gateway.console.components.confirm import confirmed
from gateway.console.components.empty import empty
from gateway.console.pages.ticket_answer import Editor
from gateway.console.pages.ticket_parts import (
    asked,
    card,
    drawn_draft,
    entries_near,
    happened,
    passages,
    stopped,
)
from gateway.console.visit import Visit
from gateway.errors import NotFound
from gateway.review.closing import Review
from gateway.review.closing.promotion import OF_ENTRY
from gateway.review.entries.approval import would_be
from gateway.review.entries.rereview import has_changed_since
from gateway.review.judgements import Drafted, drafted
from gateway.review.queue import QueueView, Wish
from gateway.review.queue.waiting import Waiting
from gateway.review.tickets import WAITING, Ticket
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["show"]

WATCH_S = 2.0  # how soon a reviewer sees what another did


async def show(visit: Visit) -> None:
    """The ticket of the address; `?do=a`, `e` or `p` starts with the answer."""
    try:
        ticket = await visit.services.tickets.get(visit.params["ticket_id"], tenant=visit.tenant)
    except NotFound:
        empty(visit.t("ticket.unknown"), icon="search_off")
        return
    await _Page(visit, ticket).build()


class _Page:
    def __init__(self, visit: Visit, ticket: Ticket) -> None:
        self.visit = visit
        self.ticket = ticket
        self.draft: Drafted | None = drafted(ticket)
        self.editor: Editor | None = None
        self.by: Any = {"tenant": visit.tenant, "by": visit.person.name}

    async def build(self) -> None:
        view = await self.visit.services.queue.view(self.visit.tenant, Wish())
        self.alike, self.others = _places(view, self.ticket)
        entry = await self._entry()
        self.head = ui.element("div").classes("ticket-head")
        with ui.element("div").classes("ticket"):
            with ui.element("div").classes("stack"):
                asked(self.visit, self.ticket)
                self.why = ui.element("div")
                self._draft_card()
                passages(self.visit, self._contexts())
                self.near = ui.element("div")
                self.history = ui.element("div")
            with ui.element("aside").classes("stack side"):
                self.notice = ui.element("div")
                self.side = ui.element("div").classes("stack")
        await self._draw(entry)
        self._keys()
        ui.timer(0.1, self.visit.action(self._later, role="viewer"), once=True)
        ui.timer(WATCH_S, self.visit.action(self._watch, role="viewer"), immediate=False)

    async def _draw(self, entry: Entry | None) -> None:
        """Head, what is known, answer and history again, as the ticket stands now."""
        for part in (self.side, self.history, self.notice):
            part.clear()
        self._read(self.ticket)
        with self.side:
            self._side(entry)
        if self.editor is not None:
            await self.editor.note_changed()
        events = await self.visit.services.tickets.events(self.ticket.id, tenant=self.visit.tenant)
        with self.history:
            happened(self.visit, events)

    def _read(self, now: Ticket) -> None:
        """Head and what is known again, which is what an answer is given to; what is being written stays."""
        is_new = has_changed_since(now, self.ticket.revision)
        self.ticket = now
        if self.editor is not None:
            self.editor.ticket = now
        self.head.clear()
        self.why.clear()
        with self.head:
            self._head()
        with self.why:
            stopped(self.visit, now)
        if is_new:
            self._notice("history", self.visit.t("ticket.source_again"))

    def _notice(self, icon: str, text: str, *, answer: str | None = None) -> None:
        self.notice.clear()
        with self.notice, ui.element("div").classes("notice").props("role=alert"):
            ui.icon(icon)
            with ui.element("div").classes("stack tight"):
                ui.label(text).classes("strong")
                if answer:
                    ui.label(answer).classes("pre")

    def _head(self) -> None:
        t, ticket = self.visit.t, self.ticket
        with ui.link(target="/").classes("go-back").props(f'aria-label="{t("pages.queue")}"'):
            ui.icon("arrow_back")
        ui.label(ticket.id).classes("mono strong")
        state_chip(t, ticket.state)
        outcome_chip(t, ticket.outcome)
        if ticket.claimed_by:
            ui.label(t("ticket.held_by", name=ticket.claimed_by)).classes("quiet holder")
        ui.element("span").classes("push")
        if self.visit.person.may("reviewer"):
            if ticket.state == "open":
                self._button("ticket.claim", self._claim)
            elif ticket.state == "claimed" and ticket.claimed_by == self.visit.person.name:
                self._button("ticket.release", self._release)
            elif ticket.state == "claimed" and self.visit.person.may("admin"):
                self._button("ticket.release", partial(self._release, as_admin=True), role="admin")
            elif ticket.state == "dismissed" and ticket.claimed_by == self.visit.person.name:
                self._button("ticket.reopen", self._reopen)
        if self.others:
            self._button("ticket.next", self._next, role="viewer")

    def _button(self, text: str, work: Callable[[], Awaitable[None]], *, role: Any = "reviewer") -> None:
        button = ui.button(self.visit.t(text), on_click=self.visit.action(work, role=role))
        button.props("flat dense no-caps").classes(text.removeprefix("ticket."))

    def _side(self, entry: Entry | None) -> None:
        self.editor = None
        if self.ticket.state not in WAITING:
            self._closed()
        elif not self.visit.person.may("reviewer"):
            with card(self.visit.t("ticket.answer")):
                ui.label(self.visit.t("ticket.read_only")).classes("quiet")
        else:
            self.editor = Editor(
                self.visit,
                self.ticket,
                draft=self.draft,
                entry=entry,
                alike=self.alike,
                on_begin=self._claim_quietly,
                on_done=self._reload,
            )
            self.editor.build()
            self._decisions()

    def _closed(self) -> None:
        t = self.visit.t
        with card(t(f"states.{self.ticket.state}"), name="closed"):
            if self.ticket.answer:
                ui.label(self.ticket.answer).classes("pre").props(f"lang={self.ticket.language}")
            if self.ticket.entry_id:
                ui.link(t("ticket.open_entry"), f"/entries/{self.ticket.entry_id}").classes("accent")

    def _decisions(self) -> None:
        t = self.visit.t
        with card(t("ticket.decide"), name="decisions"), ui.element("div").classes("line"):
            self._button("ticket.not_ours", self._not_ours)
            self._button("ticket.must_not", self._must_not)
            self._button("ticket.gate_wrong", self._gate_wrong)
            if self.draft is not None:
                self._button("ticket.draft_fine", self._draft_fine)
            self._button("ticket.dismiss", self._dismiss)

    def _draft_card(self) -> None:
        if self.draft is None:
            return
        t = self.visit.t
        with card(t("ticket.draft"), name="draft") as box:
            drawn_draft(self.visit, self.draft)
            if self.visit.person.may("reviewer") and self.ticket.state in WAITING:
                start = ui.button(t("ticket.use_draft"), icon="edit", on_click=self._start)
                start.props("flat dense no-caps").classes("use-draft")
        box.classes("draft-card")

    def _contexts(self) -> Sequence[Any]:
        found = [step["found"] for step in self.ticket.steps if step.get("stage") == "rag"]
        return found[0].get("contexts") or () if found else ()

    async def _later(self) -> None:
        """What takes a moment to look up: near entries, and other ways in which people asked."""
        near: Sequence[Candidate] = ()
        texts = [one.question for one in self.alike]
        services = self.visit.services
        try:
            encoded = await encode_one(services.stores.encoder, self.ticket.question)
            near = await services.stores.shelf.neighbours(
                encoded, tenant=self.visit.tenant, language=self.ticket.language, group=self.ticket.group
            )
            texts += await self._fitting()
        except (IndexUnavailable, EncoderError, DatabaseUnavailable, InvalidEntry):
            pass  # the page works without; what is missing is only a help
        with self.near:
            entries_near(self.visit, near)
        if (editor := self.editor) is not None:
            await editor.restore()
            if editor is not self.editor:  # closed in the meantime
                return
            editor.suggest([one for one in dict.fromkeys(texts) if one != self.ticket.question])
        self._begin_with(self.visit.query.get("do", ""))

    async def _fitting(self) -> list[str]:
        content = Content(
            kind="ground_truth",
            language=self.ticket.language,
            group=self.ticket.group,
            phrasings=(self.ticket.question,),
            answer=self.ticket.question,  # any will do: only the phrasings are looked at
        )
        preview = await self.visit.services.approvals.preview(would_be(content, tenant=self.visit.tenant))
        return [one.asked.text for one in preview.fitting]

    def _begin_with(self, intent: str) -> None:
        if self.editor is None:
            return
        if intent == "a":
            self.editor.focus()
        elif intent in ("e", "p"):
            self.editor.start_from_draft()

    async def _watch(self) -> None:
        """Say what another reviewer did meanwhile; what was written here stays as it is."""
        now = await self.visit.services.tickets.get(self.ticket.id, tenant=self.visit.tenant)
        if now.revision == self.ticket.revision:
            return
        self._read(now)
        if now.claimed_by != self.visit.person.name and now.state != "open":
            text = self.visit.t(f"ticket.meanwhile.{now.state}", name=now.claimed_by)
            self._notice("group", text, answer=now.answer)

    async def _claim(self) -> None:
        self._read(await self.visit.services.tickets.claim(self.ticket.id, **self.by))

    async def _claim_quietly(self) -> None:
        if self.ticket.state == "open":
            await self._claim()

    async def _release(self, *, as_admin: bool = False) -> None:
        self._read(await self.visit.services.tickets.release(self.ticket.id, **self.by, as_admin=as_admin))

    async def _reopen(self) -> None:
        await self.visit.services.desk.closing.take_back(self.ticket.id, **self.by)
        await self._reload()

    async def _reload(self) -> None:
        self.ticket = await self.visit.services.tickets.get(self.ticket.id, tenant=self.visit.tenant)
        await self._draw(await self._entry())

    async def _next(self) -> None:
        ui.navigate.to(f"/tickets/{self.others[0]}" if self.others else "/")

    async def _not_ours(self) -> None:
        await self.visit.services.desk.closing.close(self.ticket.id, Review(gate="may"), **self.by)
        await self._closed_by("ticket.done.not_ours")

    async def _must_not(self) -> None:
        t = self.visit.t
        body = t("ticket.must_not_body")
        if await confirmed(t, t("ticket.must_not"), body, yes=t("ticket.must_not"), danger=True):
            await self.visit.services.desk.closing.close(self.ticket.id, Review(gate="must_not"), **self.by)
            await self._closed_by("ticket.done.must_not")

    async def _dismiss(self) -> None:
        await self.visit.services.desk.closing.close(self.ticket.id, Review(), **self.by)
        await self._closed_by("ticket.done.dismissed")

    async def _closed_by(self, text: str) -> None:
        self.visit.tell(self.visit.t(text), undo=self._reopen)
        await self._reload()

    async def _gate_wrong(self) -> None:
        judgements = self.visit.services.desk.judgements
        await judgements.gate_was_wrong(self.ticket.id, **self.by)
        undo = self._undoing(judgements.gate_was_right)
        self.visit.tell(self.visit.t("ticket.done.gate_wrong"), undo=undo)

    async def _draft_fine(self) -> None:
        judgements = self.visit.services.desk.judgements
        await judgements.label_draft(self.ticket.id, **self.by, faithful=True)
        undo = self._undoing(judgements.unlabel_draft)
        self.visit.tell(self.visit.t("ticket.done.draft_fine"), undo=undo)
        self._start()

    def _undoing(self, work: Callable[..., Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def undo() -> None:
            await work(self.ticket.id, **self.by)

        return undo

    def _start(self) -> None:
        if self.editor is not None:
            self.editor.start_from_draft()

    async def _entry(self) -> Entry | None:
        """The entry that a ticket is about."""
        if self.ticket.outcome not in OF_ENTRY or self.ticket.entry_id is None:
            return None
        try:
            return await self.visit.services.stores.entries.get(self.visit.tenant, self.ticket.entry_id)
        except EntryNotFound:
            return None

    def _keys(self) -> None:
        on, act = self.visit.keys.on, self.visit.action
        on("j", "keys.next", act(self._next, role="viewer"))
        on("u", "keys.back", lambda: ui.navigate.to("/"))
        if not self.visit.person.may("reviewer"):
            return

        async def publish() -> None:
            if self.editor is not None:
                await self.editor.publish()

        on("a", "keys.answer", lambda: self.editor.focus() if self.editor else None)
        on("e", "keys.edit", self._start)
        on("p", "keys.publish", act(publish))
        on("c", "ticket.claim", act(self._claim))
        on("n", "ticket.not_ours", act(self._not_ours))
        on("d", "ticket.dismiss", act(self._dismiss))
        on("g", "ticket.gate_wrong", act(self._gate_wrong))
        on("f", "ticket.draft_fine", act(self._draft_fine))


def _places(view: QueueView, ticket: Ticket) -> tuple[tuple[Waiting, ...], list[str]]:
    """The tickets whose askers may get the same answer, and the first ticket of every other cluster, by rank.

    What a group is told is not for others, and an answer to an asker is no review of an entry.
    """
    own = [one for one in view.clusters if ticket.id in [waiting.id for waiting in one.tickets]]
    alike = tuple(
        waiting
        for one in own
        for waiting in one.tickets
        if waiting.id != ticket.id and waiting.group == ticket.group and waiting.outcome not in OF_ENTRY
    )
    at = view.clusters.index(own[0]) if own else -1
    following = [*view.clusters[at + 1 :], *view.clusters[: max(at, 0)]]
    return alike, [one.first.id for one in following]
