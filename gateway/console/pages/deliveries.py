"""What did not reach its receiver: dead letters to send again, and what is still tried."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from gateway.console.components.chip import Tone, chip
from gateway.console.components.empty import empty
from gateway.console.components.moments import dated, moment
from gateway.console.pages.ticket_parts import card
from gateway.console.visit import Visit, Work
from gateway.delivery.outbox import Delivery, DeliveryState

__all__ = ["dead_letters", "show"]

SHOWN = 50  # of each state, the oldest first
REFRESH_S = 10.0
TONES: dict[DeliveryState, Tone] = {"dead": "bad", "waiting": "warn"}


async def show(visit: Visit) -> None:
    """Deliveries and notices of the tenant whose administrator looks."""
    await _Page(visit).build()


async def dead_letters(visit: Visit) -> int:
    """How many there are: the navigation says so on every page."""
    return await visit.services.desk.outbox.count("dead", tenant=visit.tenant)


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.outbox = visit.services.desk.outbox
        self.shown: tuple[tuple[Delivery, ...], ...] | None = None

    async def build(self) -> None:
        ui.label(self.visit.t("pages.deliveries")).classes("title")
        self.lists = ui.element("div").classes("stack")
        await self._draw()
        ui.timer(REFRESH_S, self.visit.action(self._draw, role="admin"), immediate=False)

    async def _draw(self) -> None:
        """Both lists, again only where something was tried meanwhile."""
        found = tuple([await self._of(state) for state in TONES])
        if found == self.shown:
            return
        self.shown = found
        counts = [await self.outbox.count(state, tenant=self.visit.tenant) for state in TONES]
        self.lists.clear()
        with self.lists:
            if not any(counts):
                empty(self.visit.t("deliveries.empty"), self.visit.t("deliveries.empty_hint"))
            for state, rows, count in zip(TONES, found, counts, strict=True):
                if count:
                    self._list(state, rows, count)

    async def _of(self, state: DeliveryState) -> tuple[Delivery, ...]:
        return (await self.outbox.list(tenant=self.visit.tenant, state=state, limit=SHOWN)).items

    def _list(self, state: DeliveryState, rows: Sequence[Delivery], count: int) -> None:
        t = self.visit.t
        with card(t(f"deliveries.{state}", n=f"{count:,}"), name=f"deliveries {state}"):
            with ui.element("div").classes("line"):
                ui.label(t(f"deliveries.{state}_hint")).classes("quiet small grow")
                if state == "dead":
                    self._button("deliveries.send_all", self._send_all)
            for one in rows:
                self._delivery(one)
            if count > len(rows):
                ui.label(t("deliveries.more", n=f"{count - len(rows):,}")).classes("quiet small")

    def _delivery(self, one: Delivery) -> None:
        t, zone = self.visit.t, self.visit.zone
        with ui.element("div").classes("delivery").props(f"data-id={one.id}"):
            chip(one.target, TONES[one.state])
            with ui.element("div").classes("line"):
                ui.label(t.or_else(f"deliveries.events.{one.event}", one.event)).classes("strong")
                if one.ticket_id:
                    ui.link(one.ticket_id, f"/tickets/{one.ticket_id}").classes("accent mono")
            ui.label(one.error).classes("mono small error")
            with ui.element("div").classes("quiet small times"):
                dated(ui.label(t("deliveries.since", at=moment(one.created_at, zone))), one.created_at)
                tried = t("deliveries.attempts", n=one.attempts)
                if one.state == "waiting":
                    tried = f"{tried} {t('deliveries.next', at=moment(one.due_at, zone))}"
                dated(ui.label(tried), one.due_at)
            if one.state == "dead":
                self._button("deliveries.send", partial(self._send, one))

    def _button(self, text: str, work: Work) -> None:
        button = ui.button(self.visit.t(text), icon="replay", on_click=self.visit.action(work, role="admin"))
        button.props("flat dense no-caps").classes(text.removeprefix("deliveries."))

    async def _send(self, one: Delivery) -> None:
        await self.outbox.resend(one.id, tenant=self.visit.tenant)
        await self._draw()
        self.visit.tell(self.visit.t("deliveries.sent", n=1))

    async def _send_all(self) -> None:
        n = await self.outbox.resend_all(tenant=self.visit.tenant)
        await self._draw()
        self.visit.tell(self.visit.t("deliveries.sent", n=n))
