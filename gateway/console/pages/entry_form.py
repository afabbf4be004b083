"""The fields of an entry."""

from __future__ import annotations

from datetime import date
from typing import Any, get_args

from nicegui import ui

from cache.entries import Entry, EntryKind, Source
from cache.store.content import Content
from gateway.console.visit import Visit
from gateway.errors import InvalidRequest
from languages.identification import LANGUAGES

__all__ = ["Form"]

DAYS = ("valid_from", "valid_until", "review_by")


class Form:
    """What a person writes; nothing of it is kept before "save"."""

    def __init__(self, visit: Visit, entry: Entry | None) -> None:
        self.visit = visit
        self.entry = entry
        self.language: str = entry.language if entry else ""

    def build(self) -> None:
        """The fields, filled with what the entry says."""
        t, entry = self.visit.t, self.entry
        self.question = self._line("question", entry.question if entry else "")
        self.phrasings = self._lines("phrasings", "\n".join(entry.phrasings[1:]) if entry else "")
        self.answer = self._lines("answer", entry.answer if entry else "")
        self.answer.props("input-class=answer").classes("answer-field")
        names = dict.fromkeys(one.document for one in entry.sources) if entry else {}
        self.sources = self._lines("sources", "\n".join(names))
        kinds = {kind: t(f"outcomes.{kind}") for kind in get_args(EntryKind)}
        with ui.element("div").classes("fields"):
            self.kind = self._choice("kind", kinds, entry.kind if entry else "ground_truth")
            languages = {"": t("entry.of_question")} | {one: t(f"languages.{one}") for one in LANGUAGES}
            languages.setdefault(self.language, self.language)
            self.in_language = self._choice("language", languages, self.language)
            self.group = self._line("group", entry.group if entry else "")
            self.owner = self._line("owner", entry.owner if entry else self.visit.person.name)
            self.days = {name: self._day(name) for name in DAYS}
        if not self.visit.person.may("reviewer"):
            self._read_only()

    def content(self) -> Content:
        """What stands in the fields; sources that the entry had keep their versions.

        Raises:
            InvalidRequest: naming a day that is none.
        """
        had = {one.document: one for one in self.entry.sources} if self.entry else {}
        question = self.question.value.strip()
        named = dict.fromkeys(_lines_of(self.sources.value))
        return Content(
            kind=self.kind.value,
            language=self.in_language.value or self.visit.services.stores.language_of(question),
            phrasings=(question, *_lines_of(self.phrasings.value)),
            answer=self.answer.value or "",
            group=self.group.value.strip(),
            owner=self.owner.value.strip(),
            sources=tuple(had.get(one) or Source(one, "") for one in named),
            **{name: _date(name, field.value) for name, field in self.days.items()},
        )

    def add_phrasing(self, text: str) -> None:
        """One more way to ask, where it was accepted elsewhere on the page."""
        self.phrasings.value = "\n".join([*_lines_of(self.phrasings.value), text])

    def _line(self, name: str, value: str) -> ui.input:
        field = ui.input(self.visit.t(f"entry.{name}"), value=value)
        return field.props("outlined dense").classes(f"wide {name}")

    def _lines(self, name: str, value: str) -> ui.textarea:
        field = ui.textarea(self.visit.t(f"entry.{name}"), value=value)
        field.props("outlined dense autogrow").classes(f"wide {name}")
        field.on("keydown.esc", js_handler="() => document.activeElement.blur()")
        return field

    def _choice(self, name: str, options: dict[str, str], value: str) -> ui.select:
        field = ui.select(options, value=value, label=self.visit.t(f"entry.{name}"))
        return field.props("outlined dense options-dense")

    def _day(self, name: str) -> ui.input:
        day = getattr(self.entry, name) if self.entry else None
        return self._line(name, day.isoformat() if day else "").props("type=date stack-label")

    def _read_only(self) -> None:
        fields: list[Any] = [self.question, self.phrasings, self.answer, self.sources, self.kind,
                             self.in_language, self.group, self.owner, *self.days.values()]  # fmt: skip
        for field in fields:
            field.props("readonly")


def _lines_of(text: str | None) -> list[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


def _date(name: str, text: str | None) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as exc:
        raise InvalidRequest(f"{name}: expected a day such as 2026-04-01", param=name) from exc
