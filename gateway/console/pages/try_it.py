"""Ask a question and watch it walk through the stages; let another policy judge the same questions."""

from __future__ import annotations

from uuid import uuid4

from nicegui import ui
from nicegui.events import UploadEventArguments

from classifiers.gate import GateVerdict
from gateway.console.components.amounts import milliseconds
from gateway.console.components.chip import chip, outcome_chip, with_topic
from gateway.console.components.empty import empty
from gateway.console.components.way import LABEL_TONES, show_way
from gateway.console.figures.seen import ended
from gateway.console.texts import Texts
from gateway.console.visit import Visit
from gateway.domain import Conversation, Outcome, Reply, Turn
from gateway.dry_run import Compared
from gateway.errors import ConfigurationError, InvalidRequest

__all__ = ["show"]

SUBMIT = "keydown.ctrl.enter"
MOST_COMPARED = 200
LARGEST_POLICY = 1_000_000


async def show(visit: Visit) -> None:
    """The page."""
    t = visit.t
    ui.label(t("pages.try_it")).classes("title")
    ui.label(t("try_it.traceless")).classes("quiet small")
    with ui.element("div").classes("card stack"):
        question = ui.textarea(t("try_it.question")).props("outlined autogrow autofocus").classes("wide")
        with ui.element("div").classes("line"):
            button = ui.button(t("try_it.ask")).props("unelevated no-caps")
    answer = ui.element("div").classes("stack")
    with answer:
        empty(t("try_it.empty"), icon="route")

    async def ask() -> None:
        if not (question.value or "").strip():
            return
        button.props(add="loading")
        try:
            reply = await visit.services.dry_run.answer(_conversation(visit, question.value))
        finally:
            button.props(remove="loading")
        answer.clear()
        with answer:
            _reply(t, reply)

    button.on_click(visit.action(ask))
    question.on(SUBMIT, visit.action(ask))
    _compare(visit)


def _conversation(visit: Visit, text: str) -> Conversation:
    longest = visit.services.settings.server.max_question_chars
    if len(text) > longest:
        raise InvalidRequest(f"a question may have at most {longest} characters", param="question")
    return Conversation(
        turns=(Turn("user", text),), tenant=visit.tenant, request_id=f"try-{uuid4().hex[:20]}"
    )


def _reply(t: Texts, reply: Reply) -> None:
    if not reply.outcomes:
        empty(t("try_it.small_talk"), reply.text, icon="waving_hand")
        return
    for outcome in reply.outcomes:
        with ui.element("section").classes("card stack tried"):
            _outcome(t, outcome)
    with ui.element("section").classes("card stack"):
        ui.label(t("try_it.reply")).classes("section")
        ui.label(reply.text).classes("pre reply")


def _outcome(t: Texts, outcome: Outcome) -> None:
    with ui.element("div").classes("line"):
        outcome_chip(t, outcome.name)
        ui.label(outcome.question.text).classes("strong")
        ui.label(ended(t, outcome.reason)).classes("quiet")
        total = milliseconds(t, sum(step.ms for step in outcome.steps))
        ui.label(t("try_it.total", ms=total)).classes("quiet push")
    show_way(t, outcome.steps)
    if outcome.name in ("withheld", "escalated"):
        ui.label(t("try_it.no_ticket")).classes("quiet small")


def _compare(visit: Visit) -> None:
    t = visit.t
    with ui.expansion(t("try_it.compare"), icon="compare_arrows").classes("card compare"):
        with ui.element("div").classes("columns"):
            with ui.element("div").classes("stack"):
                ui.label(t("try_it.policy")).classes("quiet small")
                policy = ui.textarea().props("outlined input-class=mono rows=12").classes("wide")

                async def read(event: UploadEventArguments) -> None:
                    policy.value = (await event.file.read()).decode("utf-8", "replace")

                upload = ui.upload(label=t("try_it.upload"), auto_upload=True, max_file_size=LARGEST_POLICY)
                upload.on_upload(read).props("flat bordered accept=.yaml,.yml").classes("wide")
            with ui.element("div").classes("stack"):
                questions = ui.textarea(t("try_it.questions")).props("outlined rows=12").classes("wide")
                button = ui.button(t("try_it.run")).props("unelevated no-caps")
        found = ui.element("div").classes("stack")

    async def compare() -> None:
        asked = [line.strip() for line in (questions.value or "").splitlines() if line.strip()]
        found.clear()
        if len(asked) > MOST_COMPARED:
            with found:
                ui.label(t("try_it.too_many", n=MOST_COMPARED)).classes("problem")
            return
        button.props(add="loading")
        try:
            await _compared(visit, policy.value or "", asked, found)
        finally:
            button.props(remove="loading")

    button.on_click(visit.action(compare))


async def _compared(visit: Visit, policy: str, asked: list[str], place: ui.element) -> None:
    dry_run = visit.services.dry_run
    try:
        other = await dry_run.other_gate(policy, visit.tenant)
    except ConfigurationError as exc:
        with place:
            ui.label(str(exc)).classes("problem pre mono")
        return
    compared = await dry_run.compare(asked, other, tenant=visit.tenant)
    with place:
        _table(visit.t, compared)


def _table(t: Texts, compared: tuple[Compared, ...]) -> None:
    differ = sum(one.differs for one in compared)
    said = t("try_it.differ", n=differ, all=len(compared)) if differ else t("try_it.same")
    ui.label(said).classes("strong compared")
    with ui.element("div").classes("grid-list verdicts"):
        for heading in ("", t("try_it.now"), t("try_it.other")):
            ui.label(heading).classes("quiet small")
        for one in sorted(compared, key=lambda one: not one.differs):
            ui.label(one.question).classes("strong" if one.differs else "quiet")
            _verdict(t, one.now)
            _verdict(t, one.other)


def _verdict(t: Texts, verdict: GateVerdict | None) -> None:
    with ui.element("div").classes("line"):
        if verdict is None:
            chip(t("try_it.failed_verdict"), tone="bad")
            return
        name = t(f"labels.{verdict.label}")
        chip(with_topic(t, name, verdict.topic), LABEL_TONES[verdict.label])
        ui.label(f"{verdict.score:.2f}").classes("quiet small")
        ui.tooltip(verdict.reason)
