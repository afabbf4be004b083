"""Around an entry: phrasings suggested, what it competes with, and its history with what changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from cache.store import Change
from cache.store.suggestions import Suggestion
from cache.trial.collisions import Collision
from gateway.console.components.chip import chip
from gateway.console.components.diff import show_changes
from gateway.console.components.moments import when
from gateway.console.components.reasons import objection_reason
from gateway.console.pages.ticket_parts import card
from gateway.console.texts import Texts
from gateway.console.visit import Visit
from gateway.review.entries.approval import Preview

__all__ = ["collisions_of", "competing", "history_of", "suggestions_of"]

SHOWN_CHANGES = 30
SHOWN_COLLISIONS = 6
TONES = {"answer": "bad", "be_held_back": "warn", "be_near": "quiet"}

Decide = Callable[[str, str, bool], Awaitable[None]]


def suggestions_of(visit: Visit, found: Sequence[Suggestion], decide: Decide) -> None:
    """Words in which people asked this, each to accept or reject."""
    if not found:
        return
    with card(visit.t("entry.suggested"), name="suggestions"):
        for one in found:
            _suggestion(visit, one, decide)


def _suggestion(visit: Visit, one: Suggestion, decide: Decide) -> None:
    with ui.element("div").classes("line suggestion-line"):
        ui.label(one.text).classes("quoted").props(f"lang={one.language}")
        ui.label(visit.t("entry.times", n=one.times)).classes("quiet small")
        if visit.person.may("reviewer"):
            _deciding(visit, one, decide)


def _deciding(visit: Visit, one: Suggestion, decide: Decide) -> None:
    for name, icon in (("accept", "add"), ("reject", "close")):
        work = visit.action(lambda accepted=name == "accept": decide(one.id, one.text, accepted))
        button = ui.button(icon=icon, on_click=work).props("flat dense round").classes(name)
        button.props(f'aria-label="{visit.t(f"entry.{name}")}"').tooltip(visit.t(f"entry.{name}"))


def competing(t: Texts, one: Collision) -> str:
    """Two phrasings that compete, on a line."""
    return t("ticket.competes_pair", own=one.phrasing, other=one.other_phrasing, score=f"{one.score:.2f}")


def collisions_of(visit: Visit, preview: Preview) -> None:
    """What other entries would do in its words, and phrasings of its own that would not find it."""
    t, lost = visit.t, [one for one in preview.findable if not one.found]
    if not preview.collisions and not lost:
        return
    with card(t("entry.collisions"), name="collisions"):
        for one in preview.collisions[:SHOWN_COLLISIONS]:
            _collision(t, one)
        if lost:
            ui.label(t("entry.not_found")).classes("small warn-text")
        for missed in lost:
            ui.label(missed.phrasing).classes("quoted small quiet")


def _collision(t: Texts, one: Collision) -> None:
    with ui.element("div").classes("stack tight rival"):
        with ui.element("div").classes("line"):
            chip(t(f"entry.would.{one.would}"), TONES[one.would])  # type: ignore[arg-type]
            ui.label(f"{one.score:.2f}").classes("small")
            ui.link(t("ticket.open_entry"), f"/entries/{one.other.id}").classes("accent small push")
        ui.label(one.phrasing).classes("quoted small")
        ui.label(one.other_phrasing).classes("quoted small quiet")
        if one.objection:
            ui.label(objection_reason(t, one.objection)).classes("small quiet").props["title"] = one.says


def history_of(visit: Visit, changes: Sequence[Change]) -> None:
    """Every change, the last one first, each with what it changed."""
    with card(visit.t("entry.history"), name="history"):
        for at in range(len(changes) - 1, max(-1, len(changes) - 1 - SHOWN_CHANGES), -1):
            _change(visit, changes[at], changes[at - 1] if at else None)


def _change(visit: Visit, change: Change, before: Change | None) -> None:
    t = visit.t
    with ui.element("details").classes("passage"):
        with ui.element("summary"):
            ui.label(str(change.revision)).classes("faint small")
            ui.label(change.by).classes("strong")
            ui.label(t.or_else(f"entry.changes.{change.change}", change.change))
            when(change.at, visit.zone).classes("faint small push")
        if before is None:
            ui.label(change.entry.answer).classes("pre")
        else:
            show_changes(t, before.entry, change.entry)
