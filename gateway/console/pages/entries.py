"""Verified entries: searched by words or by meaning, filtered, a page at a time; import and export."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, cast, get_args

from nicegui import ui

from cache.entries import Entry, EntryState
from cache.store.queries import Choices, Filters
from cache.transfer import export_entries
from gateway.console.components.chip import tone_of
from gateway.console.components.moments import moment
from gateway.console.components.table import Column, Rows, Table, Wanted
from gateway.console.pages.entries_near import near
from gateway.console.visit import Visit
from gateway.errors import InvalidRequest

__all__ = ["show"]

FORMS = ("xlsx", "csv", "jsonl")
CHOSEN = ("state", "language", "group", "owner")
NOBODY = "-"  # of a choice: no group, no owner


async def show(visit: Visit) -> None:
    """The entries; what the address asks for (`?state=stale&overdue=1&search=…`) is chosen already."""
    await _Page(visit).build()


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.wish: dict[str, Any] = {name: visit.query.get(name, "") for name in CHOSEN}
        self.wish |= {name: visit.query.get(name, "") for name in ("search", "document", "review_before")}
        self.wish["state"] = self.wish["state"] if self.wish["state"] in get_args(EntryState) else ""
        self.wish["overdue"] = visit.query.get("overdue", "") == "1"
        self.by_meaning = visit.query.get("by", "") == "meaning"

    async def build(self) -> None:
        choices = await self.visit.services.stores.entries.choices(self.visit.tenant)
        self._head()
        self._filters(choices)
        t = self.visit.t
        columns = [
            Column(name="question", label=t("entry.question")),
            Column(name="state", label=t("entry.state"), kind="chip", width="90px"),
            Column(name="score", label=t("entries.score"), kind="number", width="70px"),
            Column(name="language", label=t("entry.language"), kind="quiet", width="80px"),
            Column(name="group", label=t("entry.group"), kind="quiet"),
            Column(name="owner", label=t("entry.owner"), kind="quiet"),
            Column(name="review_by", label=t("entry.review_by"), kind="chip", width="110px"),
            Column(name="changed", label=t("entries.changed"), kind="quiet", width="110px"),
        ]
        self.table = Table(
            self.visit, columns, self._fetch, on_open=lambda id_: ui.navigate.to(f"/entries/{id_}")
        )
        self.table.show("group", shown=any(choices.groups))
        await self.visit.action(self.table.refresh, role="viewer")()
        self.visit.keys.on("/", "entries.search", lambda: self.search.run_method("focus"))
        if self.visit.person.may("reviewer"):
            self.visit.keys.on("c", "entries.new", lambda: ui.navigate.to("/entries/new"))

    def _head(self) -> None:
        t = self.visit.t
        with ui.element("div").classes("filters"):
            ui.label(t("pages.entries")).classes("title")
            self.count = ui.label().classes("quiet count")
            ui.element("span").classes("push")
            with ui.button(t("entries.export"), icon="download").props("flat dense no-caps"), ui.menu():
                for form in FORMS:
                    work = self.visit.action(lambda form=form: self._export(form), role="viewer")
                    ui.menu_item(form.upper(), work)
            if self.visit.person.may("reviewer"):
                for name, icon in (("import", "upload"), ("new", "add")):
                    target = f"/entries/{name}"
                    button = ui.button(t(f"entries.{name}"), icon=icon)
                    button.on_click(lambda target=target: ui.navigate.to(target))
                    button.props("flat dense no-caps" if name == "import" else "unelevated dense no-caps")

    def _filters(self, choices: Choices) -> None:
        t, wish = self.visit.t, self.wish
        with ui.element("div").classes("filters entry-filters"):
            self.search = ui.input(t("entries.search"), value=wish["search"])
            self.search.props("outlined dense clearable debounce=300").classes("search")
            self.search.on_value_change(self._wishing("search"))
            by = {False: t("entries.by_words"), True: t("entries.by_meaning")}
            chosen = self.visit.action(lambda event: self._search_by(event.value), role="viewer")
            toggle = ui.toggle(by, value=self.by_meaning, on_change=chosen)
            toggle.props("dense no-caps unelevated flat").classes("search-by")
            self._choice("state", {one: t(f"states.{one}") for one in get_args(EntryState)})
            languages = {one: t.or_else(f"languages.{one}", one) for one in choices.languages}
            self._choice("language", languages)
            everybody = {NOBODY: t("entries.everybody")}
            self._choice("group", everybody | {one: one for one in choices.groups if one})
            self._choice("owner", {NOBODY: "–"} | {one: one for one in choices.owners if one})
            document = ui.input(t("entries.document"), value=wish["document"])
            document.props("outlined dense clearable debounce=300").classes("filter")
            document.on_value_change(self._wishing("document"))
            before = ui.input(t("entries.review_before"), value=wish["review_before"])
            before.props("outlined dense type=date stack-label").classes("filter review-before")
            before.on_value_change(self._wishing("review_before"))
            overdue = ui.checkbox(t("entries.overdue"), value=wish["overdue"])
            overdue.props("dense").classes("overdue")
            overdue.on_value_change(self._wishing("overdue"))

    def _choice(self, name: str, options: Mapping[str, str]) -> None:
        given = {"": self.visit.t("queue.any"), **options}
        given.setdefault(self.wish[name], self.wish[name])
        select = ui.select(given, value=self.wish[name], label=self.visit.t(f"entry.{name}"))
        select.props("outlined dense options-dense").classes(f"filter {name}")
        select.on_value_change(self._wishing(name))

    def _wishing(self, name: str) -> Any:
        async def chosen(event: Any) -> None:
            self.wish[name] = event.value if event.value is not None else ""
            await self.table.refresh(from_start=True)

        return self.visit.action(chosen, role="viewer")

    async def _search_by(self, meaning: bool) -> None:
        self.by_meaning = meaning
        await self.table.refresh(from_start=True)

    def _wanted(self) -> Filters:
        """The filters, as the store knows them."""
        wish = self.wish
        before = _day(wish["review_before"])
        if wish["overdue"]:
            today = self.visit.services.stores.entries.today
            before = min(before, today) if before else today
        return Filters(
            state=cast("EntryState | None", wish["state"] or None),
            language=wish["language"] or None,
            group=_named(wish["group"]),
            owner=_named(wish["owner"]),
            search=wish["search"].strip()[:200] or None,
            document=wish["document"].strip() or None,
            review_before=before,
        )

    async def _fetch(self, wanted: Wanted) -> Rows:
        filters, tenant = self._wanted(), self.visit.tenant
        ranked = self.by_meaning and filters.search
        self.table.show("score", shown=bool(ranked))
        if ranked:
            found = await near(self.visit.services.stores, tenant, filters)
            rows = [self._row(one.entry) | {"score": f"{one.score:.2f}"} for one in found]
            total = len(rows)
        else:
            page = await self.visit.services.stores.entries.list(
                tenant, filters, limit=wanted.limit, offset=wanted.offset
            )
            rows, total = [self._row(entry) for entry in page.entries], page.total
        self.count.text = self.visit.t("entries.count", n=f"{total:,}")
        return Rows(rows, total)

    def _row(self, entry: Entry) -> dict[str, Any]:
        t = self.visit.t
        today = self.visit.services.stores.entries.today
        standing = entry.standing(today)
        late = entry.review_by is not None and entry.review_by < today
        return {
            "id": entry.id,
            "question": entry.question,
            "state": t(f"states.{standing}"),
            "state_tone": tone_of(standing),
            "score": "",
            "language": t.or_else(f"languages.{entry.language}", entry.language),
            "group": entry.group,
            "owner": entry.owner,
            "review_by": entry.review_by.isoformat() if entry.review_by else "",
            "review_by_tone": "bad" if late and entry.state != "retired" else "plain",
            "changed": moment(entry.updated_at, self.visit.zone),
        }

    async def _export(self, form: str) -> None:
        """What the filters show, in a file that an import reads back."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"entries.{form}"
            written = await export_entries(
                self.visit.services.stores.entries, self.visit.tenant, path, self._wanted()
            )
            ui.download.content(path.read_bytes(), f"entries-{self.visit.tenant}.{form}")
        self.visit.tell(self.visit.t("entries.exported", n=f"{written:,}"))


def _named(chosen: str) -> str | None:
    """What a choice narrows to: nothing, what has no name, or a name."""
    return "" if chosen == NOBODY else chosen or None


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as exc:
        raise InvalidRequest(
            "review_before: expected a day such as 2026-04-01", param="review_before"
        ) from exc
