"""Outcomes, states and the like as small coloured words."""

from __future__ import annotations

from typing import Literal

from nicegui import ui

from gateway.console.texts import Texts

__all__ = ["Tone", "chip", "outcome_chip", "state_chip", "tone_of"]

Tone = Literal["good", "calm", "warn", "bad", "quiet"]
_TONES: dict[str, Tone] = {
    "ground_truth": "good", "confirmed_answer": "good", "rag": "calm", "refused": "quiet", "withheld": "bad",
    "escalated": "warn", "stale_entry": "warn", "error": "bad", "open": "warn", "claimed": "calm",
    "answered": "good", "dismissed": "quiet", "draft": "quiet", "active": "good", "paused": "warn",
    "stale": "warn", "upcoming": "quiet", "expired": "warn", "retired": "quiet", "right": "good",
    "wrong": "bad", "unsure": "warn",
}  # fmt: skip


def tone_of(name: str) -> Tone:
    """How an outcome, a state or a verdict is coloured."""
    return _TONES.get(name, "quiet")


def chip(text: str, tone: Tone = "quiet") -> ui.label:
    """A word in a small coloured box."""
    return ui.label(text).classes(f"chip {tone}")


def outcome_chip(t: Texts, outcome: str) -> ui.label:
    """An outcome in the reader's words."""
    return chip(t.or_else(f"outcomes.{outcome}", outcome), tone_of(outcome))


def state_chip(t: Texts, state: str) -> ui.label:
    """The state of a ticket or an entry in the reader's words."""
    return chip(t.or_else(f"states.{state}", state), tone_of(state))
