"""Blind acceptance tests: two answers side by side, one key each; nobody here knows whose they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from gateway.console.components.chip import chip
from gateway.console.components.empty import empty
from gateway.console.components.moments import when
from gateway.console.visit import Visit
from gateway.errors import Conflict, NotFound
from gateway.review.acceptance_tests import AcceptanceTest, AcceptanceTests, Better, Pair, Side

__all__ = ["show", "show_test"]

KEYS: tuple[tuple[str, Better], ...] = (("1", "left"), ("0", "same"), ("2", "right"))
CRITICAL: tuple[tuple[str, Side], ...] = (("q", "left"), ("w", "right"))


async def show(visit: Visit) -> None:
    """The tests of the tenant."""
    t = visit.t
    ui.label(t("acceptance.title")).classes("title")
    tests = await AcceptanceTests(visit.services.stores.database).tests(visit.tenant)
    if not tests:
        empty(t("acceptance.none"), t("acceptance.none_hint"))
    for test in tests:
        _row(visit, test)


async def show_test(visit: Visit) -> None:
    """One pair after the other."""
    page = _Page(visit, visit.params["test_id"])
    await page.build()


def _row(visit: Visit, test: AcceptanceTest) -> None:
    t = visit.t
    mine = test.votes.get(visit.person.name, 0)
    with ui.element("section").classes("card line").props(f"data-id={test.id}"):
        if test.closed_at:
            ui.label(test.name).classes("strong")
            chip(t("acceptance.over"), "quiet")
        else:
            ui.link(test.name, f"/acceptance/{test.id}").classes("strong accent")
        ui.label(t("acceptance.mine", done=mine, n=test.pairs)).classes("quiet")
        ui.label(t("acceptance.judges", n=len(test.votes))).classes("quiet")
        when(test.created_at, visit.zone).classes("quiet small push")


class _Page:
    def __init__(self, visit: Visit, test_id: str) -> None:
        self.visit, self.test_id = visit, test_id
        self.store = AcceptanceTests(visit.services.stores.database)
        self.ahead: deque[Pair] = deque()
        self.total = 0
        self.critical: set[Side] = set()
        self.last: Pair | None = None  # judged last: it may be judged again
        self.busy = False

    async def build(self) -> None:
        try:
            test = await self.store.test(self.test_id, tenant=self.visit.tenant)
        except NotFound:
            empty(
                self.visit.t("acceptance.unknown"), self.visit.t("acceptance.unknown_hint"), icon="search_off"
            )
            return
        self.total = test.pairs
        if not test.closed_at:
            self.ahead.extend(
                await self.store.left_to(self.test_id, tenant=self.visit.tenant, by=self.visit.person.name)
            )
        with ui.element("div").classes("filters"):
            ui.label(test.name).classes("title")
            self.progress = ui.label().classes("quiet")
        ui.label(self.visit.t("acceptance.hint")).classes("quiet small")
        self.now = ui.element("div").classes("acceptance-now")
        self._draw(over=bool(test.closed_at))
        for key, better in KEYS:
            self._key(key, f"acceptance.{better}", partial(self._judge, better))
        for key, side in CRITICAL:
            self._key(key, f"acceptance.critical_{side}", partial(self._mark, side))
        self._key("z", "acceptance.again", self._again)

    def _key(self, key: str, text: str, work: Callable[[], Awaitable[None]]) -> None:
        self.visit.keys.on(key, text, self.visit.action(work))

    def _draw(self, *, over: bool = False) -> None:
        t = self.visit.t
        self.progress.text = t("acceptance.mine", done=self.total - len(self.ahead), n=self.total)
        self.now.clear()
        with self.now:
            if over:
                empty(t("acceptance.over"), t("acceptance.over_hint"))
            elif not self.ahead:
                empty(t("acceptance.done"), t("acceptance.done_hint"))
            else:
                self._pair(self.ahead[0])

    def _pair(self, pair: Pair) -> None:
        t = self.visit.t
        with ui.element("section").classes("card audit").props(f"data-number={pair.number}"):
            ui.label(t("acceptance.question")).classes("section")
            ui.label(pair.question).classes("big-question").props(f"lang={pair.language}")
            with ui.element("div").classes("answers"):
                for (key, side), text in zip(CRITICAL, (pair.left, pair.right), strict=True):
                    self._answer(key, side, text, pair.language)
            self.comment = ui.input(t("acceptance.comment")).props("outlined dense maxlength=2000")
            with ui.element("div").classes("line verdicts"):
                for key, better in KEYS:
                    self._button(key, better)

    def _button(self, key: str, better: Better) -> None:
        work = self.visit.action(partial(self._judge, better))
        button = ui.button(self.visit.t(f"acceptance.{better}"), on_click=work)
        with button.props("outline no-caps").classes("verdict"):
            ui.label(key).classes("key")

    def _answer(self, key: str, side: Side, text: str, language: str) -> None:
        t = self.visit.t
        with ui.element("div").classes(f"answer side-{side}"):
            ui.label("A" if side == "left" else "B").classes("section")
            ui.label(text).classes("pre served").props(f"lang={language}")
            work = self.visit.action(lambda: self._mark(side))
            box = ui.checkbox(t("acceptance.critical"), value=side in self.critical, on_change=None)
            box.on("click", work).classes("small critical")
            with box:
                ui.label(key).classes("key")

    async def _mark(self, side: Side) -> None:
        """This answer would do harm, or not."""
        self.critical ^= {side}
        comment = self.comment.value if self.ahead else ""
        self._draw()
        if self.ahead:
            self.comment.value = comment

    async def _judge(self, better: Better) -> None:
        if not self.ahead or self.busy:
            return
        self.busy = True
        try:
            await self.store.vote(
                self.test_id, self.ahead[0].number, better, tenant=self.visit.tenant,
                by=self.visit.person.name, critical=self.critical, comment=self.comment.value or "",
            )  # fmt: skip
        except Conflict:
            self.ahead.clear()
            self._draw(over=True)
            return
        finally:
            self.busy = False
        self.last = self.ahead.popleft()
        self.critical = set()
        self._draw()

    async def _again(self) -> None:
        """The last pair once more: its next verdict replaces this one."""
        if self.last is not None:
            self.ahead.appendleft(self.last)
            self.last = None
            self.critical = set()
            self._draw()
