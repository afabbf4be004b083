"""Importing entries from a file: first what would become of each row, then, if it is wanted, the import."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nicegui import ui
from nicegui.events import UploadEventArguments

from cache.errors import UnreadableTable
from cache.transfer import ImportReport, Refusal, Remark, import_entries
from gateway.console.components.figure import figure
from gateway.console.components.reasons import expected_of
from gateway.console.pages.ticket_parts import card
from gateway.console.visit import Visit
from gateway.routes.refusals import index_now
from languages.identification import LANGUAGES

__all__ = ["show"]

FORM = 2_000  # bytes around a file that is sent
FORGET_SENT = "() => getElement({id}).$refs.qRef.removeUploadedFiles()"
SHOWN_REFUSALS = 100
COUNTED = ("created", "edited", "unchanged")


async def show(visit: Visit) -> None:
    """Nothing is kept before the second button."""
    _Page(visit).build()


@dataclass(frozen=True)
class _Sent:
    """A file that was sent."""

    name: str
    data: bytes

    @property
    def kept_as(self) -> str:
        """A name of ours: what a browser calls a file is no path."""
        return f"upload{Path(self.name).suffix.lower()[:8]}"

    @asynccontextmanager
    async def as_file(self) -> AsyncIterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.kept_as
            path.write_bytes(self.data)
            yield path


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.sent: _Sent | None = None

    def build(self) -> None:
        t, largest = self.visit.t, self.visit.services.settings.console.max_upload_bytes
        limit = f"{largest / 1_000_000:g}"
        with ui.element("div").classes("line"):
            ui.link(t("pages.entries"), "/entries").classes("back")
            ui.label(t("pages.entries_import")).classes("title")
        with card(t("entries.file"), name="import"):
            ui.label(t("entries.file_hint", limit=limit)).classes("quiet")
            languages = {"": t("entries.no_language")} | {one: t(f"languages.{one}") for one in LANGUAGES}
            self.language = ui.select(languages, value=t.language, label=t("entries.default_language"))
            self.language.props("outlined dense options-dense").classes("filter")
            self.language.on_value_change(self.visit.action(self._look))
            upload = ui.upload(label=t("entries.choose_file"), auto_upload=True, max_file_size=largest - FORM)
            # Else the same file, mended, would be rejected as sent already. A reset from here would lose what
            # was chosen meanwhile.
            upload.on("uploaded", js_handler=FORGET_SENT.format(id=upload.id))
            upload.on_upload(self.visit.action(self._read)).props("flat bordered accept=.csv,.xlsx,.jsonl")
            upload.on_rejected(lambda: self.visit.tell(t("entries.rejected", limit=limit), kind="problem"))
            upload.on("failed", lambda: self.visit.tell(t("entries.not_sent", limit=limit), kind="problem"))
        self.found = ui.element("div").classes("stack")

    async def _read(self, event: UploadEventArguments) -> None:
        self.sent = _Sent(event.file.name, await event.file.read())
        await self._look()

    async def _look(self) -> None:
        """Go through the whole file, and keep nothing; again when another language is chosen."""
        if self.sent is None:  # or it is imported already
            return
        sent, language = self.sent, self.language.value
        self.found.clear()
        try:
            report = await self._run(sent, keep=False)
        except UnreadableTable as exc:
            show = partial(self._unreadable, sent, exc)
        else:
            show = partial(self._would_become, sent, report)
        if (sent, language) == (self.sent, self.language.value):  # else a later look shows what it found
            self.found.clear()
            with self.found:
                show()

    def _unreadable(self, sent: _Sent, exc: UnreadableTable) -> None:
        with card(self.visit.t("entries.unreadable"), name="unreadable"):
            ui.label(self.visit.t(f"entries.unreadable_{exc.why or 'hint'}"))
            ui.label(str(exc).replace(sent.kept_as, sent.name, 1)).classes("mono quiet small")

    def _would_become(self, sent: _Sent, report: ImportReport) -> None:
        self._report(sent, report, "entries.would_become")
        if usable := report.created + report.edited:
            text = self.visit.t("entries.import_rows", n=f"{usable:,}")
            click = self.visit.action(partial(self._import, sent))
            ui.button(text, icon="upload", on_click=click).props("unelevated no-caps").classes("import-rows")

    async def _import(self, sent: _Sent) -> None:
        report = await self._run(sent, keep=True)
        await index_now(self.visit.services)
        self.visit.tell(self.visit.t("entries.imported", n=f"{report.created + report.edited:,}"))
        if self.sent is sent:  # else the next file is on the page
            self.sent = None
            self.found.clear()
            with self.found:
                self._report(sent, report, "entries.became")
                ui.link(self.visit.t("pages.entries"), "/entries").classes("accent")

    async def _run(self, sent: _Sent, *, keep: bool) -> ImportReport:
        async with sent.as_file() as path:
            return await import_entries(
                self.visit.services.stores.entries,
                self.visit.tenant,
                path,
                by=self.visit.person.name,
                language=self.language.value or None,
                keep=keep,
            )

    def _report(self, sent: _Sent, report: ImportReport, title: str) -> None:
        t = self.visit.t
        ui.label(t(title, name=sent.name)).classes("strong")
        with ui.element("div").classes("figures"):
            for name in COUNTED:
                figure(t(f"entries.{name}"), f"{getattr(report, name):,}")
            n = len(report.refused)
            figure(t("entries.refused"), f"{n:,}", tone="bad" if n else "quiet").classes("refused")
        if report.remarks:
            with card(t("entries.remarks"), name="remarks"), ui.element("div").classes("refusal-list"):
                for remark in report.remarks[:SHOWN_REFUSALS]:
                    self._row(remark, t(f"remarks.{remark.field}", found=remark.found), exactly=remark.says)
        if report.refused:
            with card(t("entries.refused"), name="refusals"), ui.element("div").classes("refusal-list"):
                for one in report.refused[:SHOWN_REFUSALS]:
                    said = expected_of(t, one.why or one.field, one.expected)
                    self._row(one, said, exactly=one.expected)

    def _row(self, one: Refusal | Remark, said: str, *, exactly: str) -> None:
        ui.label(self.visit.t("entries.line", n=one.line)).classes("strong")
        ui.label(self.visit.t.or_else(f"entry.{one.field}", one.field))
        shown = exactly if self.visit.t.language == "en" else said
        ui.label(shown).classes("quiet").props["title"] = exactly
