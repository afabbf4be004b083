"""The decision on a reply: as headers, as the small object inside OpenAI's bodies, and in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from classifiers.faithfulness import Checked, FaithfulnessVerdict, Unchecked
from gateway.domain import Escalated, Outcome, Refused, Reply, Withheld
from gateway.review.steps import rendered_steps

__all__ = ["answer_body", "decision", "headers", "is_filtered"]


def decision(reply: Reply) -> dict[str, str | float]:
    """Outcome, reason, faithfulness, tickets, entries; of several outcomes, the one that names the reply."""
    decided = next((outcome for outcome in reply.outcomes if outcome.name == reply.name), None)
    told = _joined(iter(reply.told))
    if decided is None:
        return {"outcome": reply.name, "reason": "small_talk", **({"told": told} if told else {})}
    known = {
        "told": told,
        "outcome": decided.name,
        "reason": decided.reason,
        "faithfulness": _faithfulness(reply.outcomes),
        "ticket": _joined(
            outcome.ticket for outcome in reply.outcomes if isinstance(outcome, Withheld | Escalated)
        ),
        "entry": _joined(getattr(outcome, "entry", None) for outcome in reply.outcomes),
    }
    return {name: value for name, value in known.items() if value is not None}


def headers(reply: Reply) -> dict[str, str]:
    """`x-sekisho-…`, without what is not known."""
    return {f"x-sekisho-{name}": _written(value) for name, value in decision(reply).items()}


def answer_body(reply: Reply, request_id: str) -> dict[str, Any]:
    """Everything we know: the decision, and each question with every stage's verdict and time."""
    return {
        "id": request_id,
        **decision(reply),
        "text": reply.text,
        "language": reply.language,
        "did_you_mean": [offer for outcome in reply.outcomes for offer in _offers(outcome)],
        "questions": [_question_body(outcome) for outcome in reply.outcomes],
    }


def _question_body(outcome: Outcome) -> dict[str, Any]:
    return {
        "question": outcome.question.text,
        "language": outcome.question.language,
        "self_contained": outcome.question.self_contained,
        "outcome": outcome.name,
        "reason": outcome.reason,
        "text": outcome.text,
        "faithfulness": _faithfulness((outcome,)),
        "ticket": getattr(outcome, "ticket", None),
        "entry": getattr(outcome, "entry", None),
        "did_you_mean": _offers(outcome),
        "steps": rendered_steps(outcome.steps),
    }


def _offers(outcome: Outcome) -> list[dict[str, Any]]:
    if not isinstance(outcome, Withheld | Escalated):
        return []
    return [asdict(offer) for offer in outcome.did_you_mean]


def _faithfulness(outcomes: tuple[Outcome, ...]) -> float | str | None:
    """The lowest F of the drafts, "unchecked" if one was not checked, None if there was no draft to check."""
    verdicts: list[FaithfulnessVerdict] = [
        outcome.verdict for outcome in outcomes if not isinstance(outcome, Refused) and outcome.verdict
    ]
    if any(isinstance(verdict, Unchecked) for verdict in verdicts):
        return "unchecked"
    return min((verdict.faithfulness for verdict in verdicts if isinstance(verdict, Checked)), default=None)


def is_filtered(reply: Reply) -> bool:
    """Whether the reply is a canned text in OpenAI's sense: `finish_reason: content_filter`."""
    return reply.name in ("refused", "withheld")


def _joined(found: Iterator[str | None]) -> str | None:
    return ",".join(one for one in found if one) or None


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.3f}"
