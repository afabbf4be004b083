"""What a ticket tells: its question, why it stopped, the marked draft, passages, near entries, history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from cache.matching import Candidate
from classifiers.faithfulness import StatementState
from gateway.console.components.chip import chip, topic_of
from gateway.console.components.moments import when
from gateway.console.components.reasons import reason_of, statement_reason
from gateway.console.texts import Texts
from gateway.console.visit import Visit
from gateway.review.judgements import Drafted
from gateway.review.tickets import Ticket, TicketEvent

__all__ = ["asked", "card", "drawn_draft", "entries_near", "happened", "passages", "stopped"]

SHOWN_OF_NAME = 40  # characters of a passage that has no name

Found = Mapping[str, Any]


@contextmanager
def card(title: str, *, name: str = "") -> Iterator[ui.element]:
    """A titled box."""
    with ui.element("section").classes(f"card {name}") as box:
        with ui.element("div").classes("spread"):
            ui.label(title).classes("section")
        yield box


def asked(visit: Visit, ticket: Ticket) -> None:
    """The question, what the person really wrote, and the turns before it."""
    t = visit.t
    with card(t("ticket.question"), name="asked-card"):
        ui.label(ticket.question).classes("big-question").props(f"lang={ticket.language}")
        if ticket.real_question.strip() != ticket.question.strip():
            ui.label(t("ticket.real_question")).classes("section")
            ui.label(ticket.real_question).classes("pre").props(f"lang={ticket.language}")
        if ticket.turns:
            with ui.expansion(t("ticket.turns", n=len(ticket.turns))).props("dense").classes("turns"):
                _turns(t, ticket.turns)
        with ui.element("div").classes("line quiet small"):
            when(ticket.created_at, visit.zone)
            ui.label(t.or_else(f"languages.{ticket.language}", ticket.language))
            if ticket.asker:
                ui.label(t("ticket.asker", name=ticket.asker))
            if ticket.group:
                ui.label(t("ticket.group", name=ticket.group))


def _turns(t: Texts, turns: Sequence[Mapping[str, str]]) -> None:
    for turn in turns:
        with ui.element("div").classes(f"turn {turn['role']}"):
            ui.label(t.or_else(f"turns.{turn['role']}", turn["role"])).classes("quiet small")
            ui.label(turn["text"]).classes("pre")


def stopped(visit: Visit, ticket: Ticket) -> None:
    """Stage by stage: what was found, how sure it was, and how long it took."""
    t = visit.t
    with card(t("ticket.why"), name="why"):
        ui.label(t.or_else(f"reasons.{ticket.reason}", ticket.reason)).classes("strong")
        for step in ticket.steps:
            if "stage" in step:
                _stage(t, step)
            elif step.get("type") == "source_change":
                _source_change(t, step)
            elif step.get("type") == "phrasing_of_forgotten":
                ui.label(t("ticket.asked_phrasings", n=", ".join(map(str, step["phrasings"]))))


def _stage(t: Texts, step: Found) -> None:
    with ui.element("div").classes("step"):
        ui.label(t.or_else(f"stages.{step['stage']}", step["stage"])).classes("stage")
        with ui.element("div").classes("stack tight"):
            _found(t, step["found"])
        ui.label(_ms(t, step.get("ms"))).classes("faint small ms")


def _found(t: Texts, found: Found) -> None:
    kind = found.get("type", "")
    with ui.element("div").classes("line") as line:
        line.props["title"] = found.get("reason") or ""  # in the judge's own words
        match kind:
            case "gate_verdict":
                label = found["label"]
                chip(t.or_else(f"labels.{label}", label), _LABEL_TONES.get(label, "quiet"))
                _score(t, found.get("score"))
                if found.get("topic"):
                    ui.label(topic_of(t, found["topic"])).classes("small")
            case "near_miss" | "hit":
                chip(t(f"found.{kind}"), "calm")
                _score(t, found.get("score"))
            case "checked":
                judged = found["statements"]
                wrong = sum(_state(one) == "unsupported" for one in judged)
                chip(t("found.checked", wrong=wrong, all=len(judged)), "bad" if wrong else "good")
            case _:
                chip(t.or_else(f"found.{kind}", kind))
    if kind == "sent":
        ui.label(found["text"]).classes("pre small")
    if found.get("nearest"):
        near = found["nearest"]
        kind_text = t.or_else(f"near.{near['kind']}", near["kind"])
        with ui.element("div").classes("line quiet small"):
            ui.label(f"{kind_text} · {near['similarity']:.2f}")
            ui.label(near["text"][:300]).classes("quoted")
    if kind in ("near_miss", "hit"):
        ui.label(found["phrasing"]).classes("quoted small quiet")
    if why := reason_of(t, found):
        ui.label(why).classes("small quiet why")


_STATES: tuple[StatementState, ...] = ("unsupported", "unchecked", "supported")
_LABEL_TONES: Any = {"must": "good", "may": "quiet", "must_not": "bad", "unsure": "warn"}


def _score(t: Texts, score: float | None) -> None:
    if score is not None:
        ui.label(t("ticket.score", score=f"{score:.2f}")).classes("small")


def _ms(t: Texts, ms: float | None) -> str:
    return "" if ms is None else t("ticket.ms", n=f"{ms:.0f}" if ms >= 10 else f"{ms:.1f}")


def _source_change(t: Texts, step: Found) -> None:
    with ui.element("div").classes("line"):
        ui.label(step["document"]).classes("strong")
        ui.label(t("ticket.source_gone" if step["now"] is None else "ticket.source_changed"))
    if step["diff"]:
        with ui.element("div").classes("diff mono small"):
            for line in step["diff"].splitlines():
                ui.label(line or " ").classes({"+": "plus", "-": "minus"}.get(line[:1], ""))


def drawn_draft(visit: Visit, draft: Drafted) -> None:
    """The draft; what the passages don't support, or nobody could check, is marked and says why."""
    t = visit.t
    with ui.element("div").classes("marked"):
        for text, statement in _pieces(draft):
            _piece(t, text, statement)
    for one in draft.statements:
        if _state(one) != "supported":
            _doubt(t, one)


def _piece(t: Texts, text: str, statement: Found | None) -> None:
    if statement is None or _state(statement) == "supported":
        ui.label(text)
        return
    with ui.label(text).classes(_state(statement)):
        ui.tooltip(_doubted(t, statement))


def _doubt(t: Texts, statement: Found) -> None:
    with ui.element("div").classes("line small doubt"):
        ui.label(_doubted(t, statement)).classes("strong")
        ui.label(statement_reason(t, statement))
        if statement["evidence"]:
            ui.label(statement["evidence"]).classes("quoted quiet")


def _doubted(t: Texts, statement: Found) -> str:
    score = statement["score"]
    return t(f"ticket.{_state(statement)}", score="–" if score is None else f"{score:.2f}")


def _state(statement: Found) -> StatementState:
    """Tickets from before there were statements that nobody checked say only whether one is supported."""
    before: StatementState = "supported" if statement["supported"] else "unsupported"
    state: StatementState = statement.get("state", before)
    return state


def _pieces(draft: Drafted) -> Iterator[tuple[str, Found | None]]:
    """The draft from its beginning to its end, cut where statements begin and end.

    Several statements may have been taken from one sentence: the worst of them marks it.
    """
    at = 0
    for one in sorted(draft.statements, key=lambda one: (int(one["start"]), _STATES.index(_state(one)))):
        start, end = max(at, int(one["start"])), int(one["end"])
        if start > at:
            yield draft.text[at:start], None
        if end > start:
            yield draft.text[start:end], one
            at = end
    if at < len(draft.text):
        yield draft.text[at:], None


def passages(visit: Visit, found: Sequence[Found]) -> None:
    """What was retrieved for the question."""
    with card(visit.t("ticket.passages", n=len(found)), name="passages"):
        if not found:
            ui.label(visit.t("ticket.no_passages")).classes("quiet")
        for one in found:
            _passage(visit.t, one)


def _passage(t: Texts, passage: Found) -> None:
    with ui.element("details").classes("passage"):
        with ui.element("summary"):
            named = passage.get("title") or passage.get("source") or _beginning(passage["text"])
            ui.label(named or t("ticket.passage")).classes("strong")
            ui.label(passage.get("source") or "").classes("faint small")
            if passage.get("score") is not None:
                ui.label(f"{passage['score']:.2f}").classes("small push")
        ui.label(passage["text"]).classes("pre")


def _beginning(text: str) -> str:
    """The first line of a passage that has no name, without the marks of a heading."""
    line = next((line.strip("#*-| ") for line in text.splitlines() if line.strip("#*-| ")), "")
    return line if len(line) <= SHOWN_OF_NAME else f"{line[:SHOWN_OF_NAME]}…"


def entries_near(visit: Visit, found: Sequence[Candidate]) -> None:
    """Verified entries that are near, with how probable it is that they answer."""
    with card(visit.t("ticket.near"), name="near"):
        if not found:
            ui.label(visit.t("ticket.no_near")).classes("quiet")
        for one in found:
            _near_entry(visit.t, one)


def _near_entry(t: Texts, near: Candidate) -> None:
    with ui.element("details").classes("passage"):
        with ui.element("summary"):
            ui.label(near.entry.question).classes("strong").props(f"lang={near.entry.language}")
            ui.label(f"{near.score:.2f}").classes("small push")
        ui.label(near.entry.answer).classes("pre")
        ui.link(t("ticket.open_entry"), f"/entries/{near.entry.id}").classes("accent small")


def happened(visit: Visit, events: Sequence[TicketEvent]) -> None:
    """Who did what to the ticket."""
    with card(visit.t("ticket.history"), name="history"):
        for one in events:
            with ui.element("div").classes("line small"):
                when(one.at, visit.zone).classes("faint")
                ui.label(one.by).classes("strong")
                ui.label(visit.t.or_else(f"events.{one.event}", one.event))
                ui.label(str(one.detail.get("comment", ""))).classes("quiet")
