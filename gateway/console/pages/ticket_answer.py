"""The answering side of a ticket: what is written, what it competes with, and what becomes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import get_args

from nicegui import ui

from cache.entries import Entry, EntryKind, Source
from cache.trial.collisions import Collision
from classifiers.text import normalise, only_words
from gateway.console.components.confirm import confirmed
from gateway.console.pages.entry_parts import competing
from gateway.console.visit import Visit
from gateway.errors import Conflict, InvalidRequest
from gateway.review.closing import Closed, Review
from gateway.review.closing.promotion import Publication
from gateway.review.entries.approval import Approval
from gateway.review.entries.provenance import changed_since_draft, draft_sources
from gateway.review.judgements import Drafted
from gateway.review.queue.bulk import each
from gateway.review.queue.waiting import Waiting
from gateway.review.tickets import Ticket
from gateway.routes.refusals import index_now

__all__ = ["Editor"]

SHOWN_COLLISIONS = 5
SUGGESTED = 8


class _Competes(Exception):  # noqa: N818 - a fact that ends the look before anything is kept
    """What would answer in the words of the entry."""

    def __init__(self, rivals: Sequence[Collision]) -> None:
        self.rivals = rivals


class Editor:
    """Fields for the answer and its entry. Nothing is kept before "deliver" or "publish"."""

    def __init__(
        self,
        visit: Visit,
        ticket: Ticket,
        *,
        draft: Drafted | None,
        entry: Entry | None,
        alike: Sequence[Waiting],
        on_begin: Callable[[], Awaitable[None]],
        on_done: Callable[[], Awaitable[None]],
    ) -> None:
        self.visit = visit
        self.ticket = ticket  # as it was shown last
        self.draft = draft
        self.entry = entry
        self.alike = alike
        self._on_begin = on_begin
        self._on_done = on_done
        self._begun = False
        self._changed: tuple[str, ...] = ()  # documents that are not any more what the draft was written from

    def build(self) -> None:
        """The fields, filled with what is known."""
        t = self.visit.t
        with ui.element("section").classes("card editor"):
            ui.label(t("ticket.answer")).classes("section")
            text = self.entry.answer if self.entry else ""
            self.answer = ui.textarea(value=text, placeholder=t("ticket.answer_hint"))
            self.answer.props("outlined autogrow input-class=answer").classes("answer-field")
            self.answer.on_value_change(self.visit.action(self._begin))
            kept = f"(event) => sessionStorage.setItem('{self._key}', event.target.value)"
            self.answer.on("keyup", js_handler=kept)
            self.answer.on("keydown.ctrl.enter", self.visit.action(self.deliver))
            self.answer.on("keydown.esc", js_handler="() => document.activeElement.blur()")
            with ui.expansion(t("ticket.entry"), value=True).props("dense").classes("entry-fields"):
                self._entry_fields()
            self.warned = ui.element("div").classes("stack tight")
            if self.alike:
                said = t("ticket.with_alike", n=len(self.alike))
                self.with_alike = ui.checkbox(said, value=self._all_in_these_words()).props("dense")
                self.with_alike.tooltip("\n".join(one.question for one in self.alike[:SUGGESTED]))
            with ui.element("div").classes("line"):
                publish = ui.button(t("ticket.publish"), on_click=self.visit.action(self.publish))
                publish.props("unelevated no-caps").classes("publish")
                deliver = ui.button(t("ticket.deliver"), on_click=self.visit.action(self.deliver))
                deliver.props("outline no-caps").classes("deliver")

    def _all_in_these_words(self) -> bool:
        """Whether whoever asks alike asks in the very words; of others a reviewer decides."""
        asked = [self.ticket.question, *(one.question for one in self.alike)]
        return len({only_words(normalise(one)) for one in asked}) == 1

    def _entry_fields(self) -> None:
        t, entry = self.visit.t, self.entry
        sources = entry.sources if entry else draft_sources(self.ticket)
        self.named = list(dict.fromkeys(source.document for source in sources))
        kinds = {kind: t(f"outcomes.{kind}") for kind in get_args(EntryKind)}
        asks = entry.question if entry else self.ticket.question
        self.question = self._line("ticket.entry_question", asks)
        self.phrasings = self._lines("ticket.phrasings", "")
        self.suggested = ui.element("div").classes("line suggested")
        self.sources = self._lines("ticket.sources", "\n".join(self.named))
        self.changed = ui.element("div")
        self.kind = ui.toggle(kinds, value="ground_truth").props("dense no-caps unelevated flat")

    def _line(self, label: str, value: str) -> ui.input:
        return ui.input(self.visit.t(label), value=value).props("outlined dense").classes("wide")

    def _lines(self, label: str, value: str) -> ui.textarea:
        return ui.textarea(self.visit.t(label), value=value).props("outlined dense autogrow").classes("wide")

    @property
    def _key(self) -> str:
        return f"answer-{self.ticket.id}"

    async def note_changed(self) -> None:
        """Say beside the sources which changed since the draft; who publishes after that has named them."""
        async with self.visit.services.stores.database.connect() as connection:
            self._changed = await changed_since_draft(connection, self.ticket)
        self.changed.clear()
        with self.changed:
            if self._changed:
                said = self.visit.t("ticket.changed_since_draft", names=", ".join(self._changed))
                ui.label(said).classes("small warn-text changed-sources")

    async def restore(self) -> None:
        """Bring back what was being written in this tab when the page or the gateway restarted."""
        text = None
        with suppress(TimeoutError):  # a browser that does not answer keeps it for the next time
            text = await ui.run_javascript(f"return sessionStorage.getItem('{self._key}')", timeout=5.0)
        if text and not self.answer.value:
            self.answer.value = str(text)

    def start_from_draft(self) -> None:
        """Take the draft as the beginning; what was written already stays."""
        if self.draft is not None and not self.answer.value.strip():
            self.answer.value = self.draft.text
            self.kind.value = "confirmed_answer"
        self.focus()

    def focus(self) -> None:
        """Put the cursor into the answer."""
        self.answer.run_method("focus")

    def suggest(self, texts: Sequence[str]) -> None:
        """Offer other ways in which people asked this."""
        self.suggested.clear()
        with self.suggested:
            if texts:
                ui.label(self.visit.t("ticket.suggested")).classes("quiet small")
            for text in texts[:SUGGESTED]:
                ui.button(text, icon="add", on_click=lambda text=text: self._take(text)).props(
                    "flat dense no-caps"
                ).classes("suggestion")

    def _take(self, text: str) -> None:
        lines = _lines_of(self.phrasings.value)
        if text not in lines:
            self.phrasings.value = "\n".join([*lines, text])

    async def _begin(self) -> None:
        """Whoever starts to write holds the ticket: the others see it at once."""
        if not self._begun:
            self._begun = True
            await self._on_begin()

    async def deliver(self) -> None:
        """The asker gets the answer; nothing is kept for others."""
        said = Review(answer=self.answer.value, revision=self.ticket.revision)
        await self._close(self.ticket.id, said)
        await self._done("ticket.delivered", left=await self._alike_too(None))

    async def publish(self) -> None:
        """The asker gets the answer, and so does from now on whoever asks this."""
        if not self.answer.value.strip():
            raise InvalidRequest("the answer is empty", param="answer")
        approval, read = self.visit.services.approvals.begin(), self.ticket.revision
        try:
            entry = await self._published(approval, read)
        except _Competes as found:
            self._show(found.rivals)
            if not await self._meant(found.rivals):
                return
            approval.accept()
            entry = await self._published(approval, read)
        text = "ticket.published" if entry.state == "active" else "ticket.published_as_draft"
        await self._done(text, left=await self._alike_too(entry.id))

    async def _done(self, text: str, *, left: int) -> None:
        """Say so, and of how many alike nothing could be said."""
        self.visit.client.run_javascript(f"sessionStorage.removeItem('{self._key}')")
        told = [self.visit.t(text), *([self.visit.t("queue.refused", n=left)] if left else [])]
        self.visit.tell(" ".join(told))
        await self._on_done()

    async def _published(self, approval: Approval, read: int) -> Entry:
        async def check(entry: Entry) -> None:
            if rivals := await approval.rivals(entry):
                raise _Competes(rivals)
            await approval.check(entry)

        said = Review(answer=self.answer.value, publication=self._publication(), revision=read)
        try:
            entry = (await self._close(self.ticket.id, said, check=check)).entry
        except Conflict:
            await self.note_changed()
            raise
        assert entry is not None  # noqa: S101 - for the type checker: it was published
        await index_now(self.visit.services)
        await approval.tell(entry, by=self.visit.person.name)
        return entry

    async def _close(
        self, ticket_id: str, said: Review, *, check: Callable[[Entry], Awaitable[None]] | None = None
    ) -> Closed:
        who = self.visit.person
        return await self.visit.services.desk.closing.close(
            ticket_id, said, tenant=who.tenant, by=who.name, check=check
        )

    def _publication(self) -> Publication:
        named = _lines_of(self.sources.value)
        kind: EntryKind = "confirmed_answer" if self.kind.value == "confirmed_answer" else "ground_truth"
        question = self.question.value.strip()
        return Publication(
            kind=kind,
            question=question if question and question != self.ticket.question else None,
            phrasings=tuple(_lines_of(self.phrasings.value)),
            sources=None
            if named == self.named and not self._changed
            else tuple(Source(name, "") for name in named),
        )

    def _show(self, found: Sequence[Collision]) -> None:
        self.warned.clear()
        with self.warned:
            ui.label(self.visit.t("ticket.competes")).classes("strong warn-text")
            for one in found[:SHOWN_COLLISIONS]:
                with ui.element("div").classes("collision small"):
                    ui.label(one.phrasing).classes("quoted")
                    ui.label(f"{one.score:.2f}")
                    ui.label(one.other_phrasing).classes("quoted")
                    ui.link(self.visit.t("ticket.open_entry"), f"/entries/{one.other.id}").classes("accent")

    async def _meant(self, found: Sequence[Collision]) -> bool:
        t = self.visit.t
        lines = [competing(t, one) for one in found[:SHOWN_COLLISIONS]]
        body = t("ticket.competes_body") + "\n\n" + "\n".join(lines)
        return await confirmed(t, t("ticket.competes"), body, yes=t("ticket.publish_anyway"))

    async def _alike_too(self, entry_id: str | None) -> int:
        """The same answer for tickets that ask the same, if the reviewer wants that; how many are left."""
        if not self.alike or not self.with_alike.value:
            return 0
        said = Review(answer=self.answer.value, entry_id=entry_id)
        return len((await each([one.id for one in self.alike], lambda id_: self._close(id_, said))).refused)


def _lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
