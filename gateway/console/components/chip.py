"""Outcomes, states and the like as small coloured words."""

from __future__ import annotations

from typing import Literal

from nicegui import ui

from gateway.console.texts import Texts

__all__ = ["Tone", "chip", "outcome_chip", "state_chip", "tone_of", "topic_of", "with_topic"]

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


def topic_of(t: Texts, topic: str) -> str:
    """A topic of what is forbidden: ours in the reader's words, the policy's as it is called there."""
    return t.or_else(f"topics.{topic}", topic)


def with_topic(t: Texts, name: str, topic: str | None) -> str:
    """A class, and its topic if it has one."""
    return f"{name} · {topic_of(t, topic)}" if topic else name


def outcome_chip(t: Texts, outcome: str) -> ui.label:
    """An outcome in the reader's words."""
    return chip(t.or_else(f"outcomes.{outcome}", outcome), tone_of(outcome))


def state_chip(t: Texts, state: str) -> ui.label:
    """The state of a ticket or an entry in the reader's words."""
    return chip(t.or_else(f"states.{state}", state), tone_of(state))
