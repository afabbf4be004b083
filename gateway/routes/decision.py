"""The decision on a reply: as headers, as the small object inside OpenAI's bodies, and in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from classifiers.faithfulness import Checked, Unchecked
from gateway.domain import Answered, Outcome, Reply
from gateway.rendering import Json, rendered, rendered_steps

__all__ = ["answer_body", "decision", "headers"]

# Of an id, all that a header can hold but the comma between ids, and the sign that begins a code.
_AS_IT_STANDS = "".join(chr(sign) for sign in range(0x21, 0x7F) if chr(sign) not in ",%")


def decision(reply: Reply) -> dict[str, str | float]:
    """Outcome, reason, faithfulness, tickets, entries; of several outcomes, the one that names the reply."""
    decided = next((outcome for outcome in reply.outcomes if outcome.name == reply.name), None)
    told = _joined(iter(reply.told))
    if decided is None:
        return {"outcome": reply.name, "reason": reply.unasked, **({"told": told} if told else {})}
    known = {
        "told": told,
        "outcome": decided.name,
        "reason": decided.reason,
        "faithfulness": _faithfulness(reply.outcomes),
        "worst": min((verdict.score for verdict in _checked(reply.outcomes)), default=None),
        "ticket": _joined(outcome.ticket for outcome in reply.outcomes),
        "entry": _joined(outcome.entry for outcome in reply.outcomes),
    }
    return {name: value for name, value in known.items() if value is not None}


def headers(reply: Reply) -> dict[str, str]:
    """`x-sekisho-…`, without what is not known; ids of entries in percent-encoding, where they need it."""
    known = decision(reply)
    if "entry" in known:
        entries = (outcome.entry for outcome in reply.outcomes if outcome.entry)
        known["entry"] = ",".join(quote(entry, safe=_AS_IT_STANDS) for entry in entries)
    return {f"x-sekisho-{name}": _written(value) for name, value in known.items()}


def answer_body(reply: Reply, request_id: str) -> dict[str, Any]:
    """Everything we know: the decision, and each question with every stage's verdict and time."""
    return {
        "id": request_id,
        **decision(reply),
        "text": reply.text,
        "language": reply.language,
        "did_you_mean": [asdict(offer) for outcome in reply.outcomes for offer in outcome.did_you_mean],
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
        "worst_statement": _worst_statement(outcome),
        "marks": _marks(outcome),
        "cut": list(outcome.cut),
        "ticket": outcome.ticket,
        "entry": outcome.entry,
        "did_you_mean": [asdict(offer) for offer in outcome.did_you_mean],
        "steps": rendered_steps(outcome.steps),
    }


def _faithfulness(outcomes: tuple[Outcome, ...]) -> float | str | None:
    """The lowest F of the drafts, "unchecked" if one was not checked, None if there was no draft to check."""
    if any(isinstance(outcome.verdict, Unchecked) for outcome in outcomes):
        return "unchecked"
    return min((verdict.faithfulness for verdict in _checked(outcomes)), default=None)


def _worst_statement(outcome: Outcome) -> Json:
    """The statement that decided, with its evidence."""
    return next((rendered(verdict.statements[verdict.worst]) for verdict in _checked((outcome,))), None)


def _marks(outcome: Outcome) -> list[dict[str, Any]]:
    """Where in a delivered text stands what is unsupported or was not checked."""
    verdict = outcome.verdict
    if not isinstance(outcome, Answered) or verdict is None or outcome.cut:
        return []
    return [
        {"start": one.start, "end": one.end, "state": one.state, "reason": one.reason}
        for one in verdict.statements
        if not one.supported and one.end
    ]


def _checked(outcomes: tuple[Outcome, ...]) -> Iterator[Checked]:
    return (verdict for outcome in outcomes if isinstance(verdict := outcome.verdict, Checked))


def _joined(found: Iterator[str | None]) -> str | None:
    return ",".join(one for one in found if one) or None


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.3f}"
