"""What waits for a person: put together by meaning, ranked, filtered, and worked through by keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from nicegui import ui

from gateway.console.components.chip import tone_of
from gateway.console.components.empty import empty
from gateway.console.components.moments import age, exactly, lateness, moment
from gateway.console.components.queue_list import QueueList
from gateway.console.visit import Visit
from gateway.review.closing import Review
from gateway.review.queue import Cluster, QueueView, Wish
from gateway.review.queue.bulk import Done, each
from gateway.review.queue.waiting import Waiting
from gateway.review.tickets import WAITING

__all__ = ["show"]

PAGE = 50  # clusters
MEMBERS = 20  # tickets of an unfolded cluster
REFRESH_S = 10.0
STATES = {"waiting": WAITING, "open": ("open",), "claimed": ("claimed",), "answered": ("answered",),
          "dismissed": ("dismissed",)}  # fmt: skip
ACTIONS = (("claim", "c"), ("dismiss", "d"), ("not_ours", "n"))


async def show(visit: Visit) -> None:
    """The queue; what the address asks for (`?reason=…&overdue=1`) is chosen already."""
    await _Page(visit).build()


Deed = Callable[[str], Awaitable[object]]


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.wish = Wish()
        self.state = "waiting"
        self.offset = 0
        self.clusters: dict[str, Cluster] = {}  # what is shown, by the id of its first ticket

    async def build(self) -> None:
        query = self.visit.query
        self.state = query.get("state", "") if query.get("state", "") in STATES else "waiting"
        self.wish = Wish(
            states=STATES[self.state],
            language=query.get("language", ""),
            reason=query.get("reason", ""),
            topic=query.get("topic", ""),
            overdue=query.get("overdue", "") == "1",
            mine=self.visit.person.name if query.get("mine", "") == "1" else "",
        )
        view = await self._view()
        self._filters(view)
        self.list = QueueList(
            texts={name: self.visit.t(f"queue.{name}") for name in ("picked", "none", "others")},
            actions=self._actions(),
            on_open=self._open,
            on_act=self.visit.action(self._act),
        )
        self.nothing = ui.element("div")
        with self.nothing:
            empty(self.visit.t("queue.empty"), self.visit.t("queue.empty_hint"))
        with ui.element("div").classes("line pager"):
            self.back = self._turner("chevron_left", -PAGE)
            self.on = self._turner("chevron_right", PAGE)
            self.where = ui.label().classes("quiet small")
        self._show(view)
        self._keys()
        ui.timer(REFRESH_S, self.visit.action(self._refresh, role="viewer"), immediate=False)

    def _filters(self, view: QueueView) -> None:
        t = self.visit.t
        with ui.element("div").classes("filters"):
            ui.label(t("pages.queue")).classes("title")
            self.summary = ui.label().classes("quiet")
            ui.element("span").classes("push")
            states = {name: t(f"queue.states.{name}") for name in STATES}
            self._choice("state", states, self.state, "queue.state")
            self._choice("language", {one: t.or_else(f"languages.{one}", one) for one in view.languages},
                         self.wish.language, "queue.language")  # fmt: skip
            reasons = {one: t.or_else(f"reasons.{one}", one) for one in view.reasons}
            self._choice("reason", reasons, self.wish.reason, "queue.reason")
            self._choice("topic", {one: one for one in view.topics}, self.wish.topic, "queue.topic")
            self._switch("overdue", self.wish.overdue)
            self._switch("mine", bool(self.wish.mine))

    def _choice(self, name: str, options: dict[str, str], value: str, label: str) -> None:
        given = options if name == "state" else {"": self.visit.t("queue.any"), **options}
        given.setdefault(value, value)
        chosen = self.visit.action(lambda event: self._wish(name, event.value), role="viewer")
        select = ui.select(given, value=value, label=self.visit.t(label), on_change=chosen)
        select.props("outlined dense options-dense").classes(f"filter by-{name}")

    def _switch(self, name: str, value: bool) -> None:
        chosen = self.visit.action(lambda event: self._wish(name, event.value), role="viewer")
        ui.checkbox(self.visit.t(f"queue.{name}"), value=value, on_change=chosen).props("dense").classes(name)

    async def _wish(self, name: str, value: Any) -> None:
        if name == "state":
            self.state = value
            self.wish = replace(self.wish, states=STATES[value])
        elif name == "mine":
            self.wish = replace(self.wish, mine=self.visit.person.name if value else "")
        else:
            self.wish = replace(self.wish, **{name: value})
        self.offset = 0
        await self._refresh()

    def _turner(self, icon: str, by: int) -> ui.button:
        turn = self.visit.action(lambda: self._turn(by), role="viewer")
        return ui.button(icon=icon, on_click=turn).props("flat dense round")

    async def _turn(self, by: int) -> None:
        self.offset = max(0, self.offset + by)
        await self._refresh()

    async def _refresh(self) -> None:
        self._show(await self._view())

    async def _view(self) -> QueueView:
        return await self.visit.services.queue.view(self.visit.tenant, self.wish)

    def _show(self, view: QueueView) -> None:
        if self.offset >= len(view.clusters):
            self.offset = max(0, (len(view.clusters) - 1) // PAGE * PAGE)
        shown = view.clusters[self.offset : self.offset + PAGE]
        self.clusters = {one.first.id: one for one in shown}
        now = datetime.now(UTC)
        self.list.show([self._row(one, now) for one in shown])
        self.nothing.set_visibility(not shown)
        t = self.visit.t
        self.summary.text = t(
            "queue.summary", tickets=view.total, questions=len(view.clusters), overdue=view.overdue
        )
        first, last = self.offset + 1, self.offset + len(shown)
        self.where.text = t("queue.where", first=first, last=last, all=len(view.clusters)) if shown else ""
        self.back.set_enabled(self.offset > 0)
        self.on.set_enabled(last < len(view.clusters))

    def _row(self, cluster: Cluster, now: datetime) -> dict[str, Any]:
        t, first = self.visit.t, cluster.first
        holders = sorted({one.claimed_by for one in cluster.tickets if one.claimed_by})
        members = cluster.tickets[:MEMBERS] if len(cluster.tickets) > 1 else ()
        return {
            **self._line(first, now),
            "n": len(cluster.tickets),
            "rank": t("queue.rank", n=cluster.rank),
            "lang": first.language,
            "outcome": t.or_else(f"outcomes.{first.outcome}", first.outcome),
            "tone": tone_of(first.outcome),
            "reason": t.or_else(f"reasons.{first.reason}", first.reason),
            "topic": cluster.topic,
            "who": ", ".join(holders),
            "mine": self.visit.person.name in holders,
            "members": [self._line(one, now) for one in members],
        }

    def _line(self, ticket: Waiting, now: datetime) -> dict[str, Any]:
        span = now - ticket.created_at
        late = lateness(span, self.visit.services.queue.promise) if ticket.state in WAITING else "quiet"
        return {
            "id": ticket.id,
            "question": ticket.question,
            "age": age(self.visit.t, span),
            "at": f"{moment(ticket.created_at, self.visit.zone)} ({exactly(ticket.created_at)})",
            "late": late,
            "who": ticket.claimed_by or "",
        }

    def _actions(self) -> list[dict[str, str]]:
        if not self.visit.person.may("reviewer"):
            return []
        return [{"name": name, "key": key, "text": self.visit.t(f"queue.{name}")} for name, key in ACTIONS]

    def _open(self, id_: str, intent: str) -> None:
        ui.navigate.to(f"/tickets/{id_}" + (f"?do={intent}" if intent else ""))

    async def _act(self, name: str, rows: list[str]) -> None:
        """One action on all tickets of the rows, and the way to take it back."""
        tickets = [one for row in rows if row in self.clusters for one in self.clusters[row].tickets]
        held = self.visit.person.name if name == "claim" else None  # to undo a claim gives no older one back
        do, undo = self._deeds()[name]
        done = await each([one.id for one in tickets if held is None or one.claimed_by != held], do)
        await self._refresh()
        self._tell(name, done, undo)

    def _tell(self, name: str, done: Done, undo: Deed) -> None:
        async def take_back() -> None:
            back = await each(done.changed, undo)
            await self._refresh()
            self.visit.tell(self.visit.t("queue.taken_back", n=len(back.changed)))

        text = self.visit.t(f"queue.done.{name}", n=len(done.changed))
        if done.refused:
            text = f"{text} {self.visit.t('queue.refused', n=len(done.refused))}"
        self.visit.tell(text, undo=take_back if done.changed else None)

    def _deeds(self) -> dict[str, tuple[Deed, Deed]]:
        closing = self.visit.services.desk.closing
        by: Any = {"tenant": self.visit.tenant, "by": self.visit.person.name}
        return {
            "claim": (
                lambda id_: self.visit.services.tickets.claim(id_, **by),
                lambda id_: self.visit.services.tickets.release(id_, **by),
            ),
            "dismiss": (
                lambda id_: closing.close(id_, Review(), **by),
                lambda id_: closing.take_back(id_, **by),
            ),
            "not_ours": (
                lambda id_: closing.close(id_, Review(gate="may"), **by),
                lambda id_: closing.take_back(id_, **by),
            ),
        }

    def _keys(self) -> None:
        """The list moves by itself; here stands only what the help says."""
        for key, text in (("j", "next"), ("k", "before"), ("Enter", "open"), ("x", "pick"), ("o", "unfold"),
                          ("a", "answer"), ("e", "edit"), ("p", "publish")):  # fmt: skip
            self.visit.keys.note(key, f"keys.{text}")
        for name, key in ACTIONS if self.visit.person.may("reviewer") else ():
            self.visit.keys.note(key, f"queue.{name}")
