"""The way of a question, stage by stage: what each found, and how long it took."""

from __future__ import annotations

from typing import assert_never

from nicegui import ui

from cache.matching import Hit, Miss, NearMiss
from classifiers.faithfulness import Checked, StatementState, StatementVerdict, Unchecked
from classifiers.gate import GateLabel, GateVerdict
from gateway.console.components.amounts import milliseconds, share
from gateway.console.components.chip import Tone, chip, with_topic
from gateway.console.components.reasons import reason_of, statement_reason
from gateway.console.texts import Texts
from gateway.domain import Correction, Draft, Failed, NothingRelevant, Offers, Passage, Sent, Step
from gateway.rendering import rendered

__all__ = ["LABEL_TONES", "show_way"]

LABEL_TONES: dict[GateLabel, Tone] = {"must": "good", "may": "quiet", "must_not": "bad", "unsure": "warn"}
_STATE_TONES: dict[StatementState, Tone] = {"supported": "good", "unsupported": "bad", "unchecked": "warn"}


def show_way(t: Texts, steps: tuple[Step, ...]) -> None:
    """Every step below the one before it, with a bar for its share of the time."""
    slowest = max((step.ms for step in steps), default=0.0) or 1.0
    with ui.element("div").classes("way"):
        for step in steps:
            _step(t, step, slowest)


def _step(t: Texts, step: Step, slowest: float) -> None:
    with ui.element("div").classes("way-step").props(f"data-stage={step.stage}"):
        with ui.element("div").classes("way-stage"):
            ui.label(t.or_else(f"stages.{step.stage}", step.stage)).classes("strong")
            ui.label(milliseconds(t, step.ms)).classes("quiet small")
            with ui.element("div").classes("reason-bar"):
                ui.element("div").style(f"width:{max(step.ms / slowest, 0.01):.1%}")
        with ui.element("div").classes("way-found"):
            _found(t, step)


def _found(t: Texts, step: Step) -> None:
    why = reason_of(t, found) if isinstance(found := rendered(step.found), dict) else ""
    match step.found:
        case GateVerdict() as verdict:
            _gate(t, verdict, why)
        case Hit(score=score, phrasing=phrasing, entry=entry):
            _line(t("try_it.hit"), "good", t("try_it.score", score=f"{score:.3f}"))
            _said(t("try_it.nearest", text=phrasing), t("try_it.entry", text=entry.answer))
        case NearMiss(score=score, phrasing=phrasing):
            _line(t("try_it.near_miss"), "warn", t("try_it.score", score=f"{score:.3f}"))
            _said(why, t("try_it.nearest", text=phrasing))
        case Miss(lookup_failed=failed):
            _line(t("try_it.miss"), "bad" if failed else "quiet", "")
            _said(why)
        case Draft(text=text, contexts=contexts, model=model, correction=correction):
            _line(t("stages.rag"), "calm", t("try_it.written", model=model, n=len(contexts)))
            _correction(t, correction)
            ui.label(text).classes("pre")
            _passages(t, contexts)
        case NothingRelevant(contexts=contexts, correction=correction):
            _line(t("try_it.nothing"), "warn", "")
            _correction(t, correction)
            _passages(t, contexts)
        case Failed():
            _line(t("try_it.no_answer"), "bad", "")
            _said(why)
        case Checked(passed=passed, faithfulness=faithfulness, statements=statements):
            _line(
                t("try_it.passed" if passed else "try_it.failed"),
                "good" if passed else "bad",
                f"F {share(faithfulness)}",
            )
            for statement in statements:
                _statement(t, statement)
        case Unchecked(statements=statements):
            _line(t("try_it.unchecked", reason=why), "warn", "")
            for statement in statements:
                _statement(t, statement)
        case Offers(offers=offers):
            for offer in offers:
                _said(offer.question, t("try_it.score", score=f"{offer.score:.3f}"))
        case Sent(text=text):
            ui.label(text).classes("pre")
        case _:
            assert_never(step.found)


def _correction(t: Texts, correction: Correction | None) -> None:
    """What the evaluator said of the passages, and where else was looked."""
    if correction is None:
        return
    best = f"{max(correction.scores, default=0.0):.3f}"
    _said(t(f"try_it.retrieval_{correction.label}", score=best, kept=share(correction.kept)))
    if correction.web != "off":
        _said(t(f"try_it.web_{correction.web}", query=correction.query))


def _gate(t: Texts, verdict: GateVerdict, why: str) -> None:
    named = with_topic(t, t(f"labels.{verdict.label}"), verdict.topic)
    _line(named, LABEL_TONES[verdict.label], t("try_it.score", score=f"{verdict.score:.3f}"))
    _said(why)
    if verdict.nearest is not None:
        _said(t("try_it.nearest", text=verdict.nearest.text))
    if verdict.nearest_ours is not None:
        _said(t("try_it.nearest_ours", text=verdict.nearest_ours.text))
    if verdict.rule:
        _said(t("try_it.rule", rule=verdict.rule))


def _statement(t: Texts, statement: StatementVerdict) -> None:
    with ui.element("div").classes(f"statement {_STATE_TONES[statement.state]}"):
        ui.label(statement.text)
        if statement.score is not None:
            ui.label(t("try_it.statement_score", score=share(statement.score))).classes("quiet small")
        if not statement.supported:
            found = rendered(statement)
            ui.label(statement_reason(t, found if isinstance(found, dict) else {})).classes("small")


def _passages(t: Texts, contexts: tuple[Passage, ...]) -> None:
    if not contexts:
        return
    with ui.expansion(t("try_it.passages")).classes("passages").props("dense"):
        for passage in contexts:
            ui.label(passage.source or passage.title).classes("quiet small")
            ui.label(passage.text).classes("pre small")


def _line(text: str, tone: Tone, beside: str) -> None:
    with ui.element("div").classes("line"):
        chip(text, tone)
        ui.label(beside).classes("quiet small")


def _said(*texts: str) -> None:
    for text in filter(None, texts):
        ui.label(text).classes("small pre")
