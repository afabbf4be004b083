"""The questions behind a figure, each with the way to its ticket or its entry."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from gateway.console.components.amounts import milliseconds
from gateway.console.components.chip import tone_of
from gateway.console.components.table import Column, Rows, Table, Wanted
from gateway.console.figures.seen import Seen, ended, seen_by
from gateway.console.visit import Visit
from gateway.figures.questions import AskedQuestion, Behind

__all__ = ["show"]


async def show(visit: Visit) -> None:
    """A page of them, the newest first."""
    t, behind = visit.t, _behind_of(visit)
    with ui.element("div").classes("spread"):
        with ui.element("div").classes("line"):
            ui.link(t("questions.back"), seen_by(visit).address("/dashboard", begins=None)).classes("back")
            ui.label(_title(visit, behind)).classes("title")
        count = ui.label().classes("quiet")
    reading = _Reading(visit, seen_by(visit), behind, count)
    columns = [
        Column(name="at", label=t("questions.at"), kind="quiet", width="140px"),
        Column(name="text", label=t("questions.text")),
        Column(name="outcome", label=t("questions.outcome"), kind="chip", width="110px"),
        Column(name="reason", label=t("questions.reason"), kind="quiet"),
        Column(name="language", label=t("questions.language"), kind="quiet", width="80px"),
        Column(name="ms", label=t("questions.ms"), kind="number", width="90px"),
    ]
    table = Table(visit, columns, reading.fetch, on_open=reading.open)
    await visit.action(table.refresh, role="viewer")()


def _behind_of(visit: Visit) -> Behind:
    """What the address narrows the questions to."""
    asked = visit.query
    place = asked.get("faithfulness_bin", "")
    return Behind(
        figure=asked.get("figure", "questions"),
        outcome=asked.get("outcome"),
        reason=asked.get("reason"),
        faithfulness_bin=int(place) if place.isdecimal() and len(place) < 3 else None,
    )


def _title(visit: Visit, behind: Behind) -> str:
    t = visit.t
    parts = (
        [] if behind.figure == "questions" else [t.or_else(f"figures.{behind.figure}.name", behind.figure)]
    )
    if behind.outcome:
        parts.append(t.or_else(f"outcomes.{behind.outcome}", behind.outcome))
    if behind.reason:
        parts.append(ended(t, behind.reason))
    if behind.faithfulness_bin is not None:
        parts.append(f"F {behind.faithfulness_bin / 20:.0%}")
    begins = seen_by(visit).begins
    if begins is not None:
        parts.append(f"{begins:%Y-%m-%d}")
    return " · ".join(parts) or t("figures.questions.name")


class _Reading:
    """Reads pages, and remembers where each row leads."""

    def __init__(self, visit: Visit, seen: Seen, behind: Behind, count: ui.label) -> None:
        self._visit = visit
        self._seen = seen
        self._behind = behind
        self._count = count
        self._leads: dict[str, str] = {}

    async def fetch(self, wanted: Wanted) -> Rows:
        """The rows that the table asks for."""
        figures, view = self._visit.services.figures, self._seen.view()
        page = await figures.questions(view, self._behind, limit=wanted.limit, offset=wanted.offset)
        total = await figures.count(view, self._behind)
        self._count.set_text(self._visit.t("questions.count", n=f"{total:,}"))
        self._leads = {str(one.id): _leads_to(one) for one in page.questions}
        return Rows([self._row(one) for one in page.questions], total)

    def open(self, id_: str) -> None:
        """Go to the ticket or the entry of a question; those of another tenant are not shown from here."""
        target = self._leads.get(id_)
        if target and self._seen.tenant == self._visit.tenant:
            ui.navigate.to(target)

    def _row(self, one: AskedQuestion) -> dict[str, Any]:
        t = self._visit.t
        matched = t("questions.matched", text=one.matched) if one.matched else t("questions.unknown")
        local = one.at.astimezone(self._seen.view().period.since.tzinfo)
        return {
            "id": one.id,
            "at": f"{local:%m-%d %H:%M:%S}",
            "text": one.text or matched,
            "outcome": t.or_else(f"outcomes.{one.outcome}", one.outcome),
            "outcome_tone": tone_of(one.outcome),
            "reason": ended(t, one.reason),
            "language": t.or_else(f"languages.{one.language}", one.language),
            "ms": milliseconds(t, one.ms),
        }


def _leads_to(one: AskedQuestion) -> str:
    if one.ticket_id:
        return f"/tickets/{one.ticket_id}"
    return f"/entries/{one.entry_id}" if one.entry_id else ""
