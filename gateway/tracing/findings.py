"""What spans say of questions, findings and calls: names, scores and hashes. No text but by setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from cache.matching import Hit, NearMiss
from classifiers.faithfulness import Checked, Unchecked
from classifiers.gate import GateVerdict
from gateway.domain import Correction, Draft, Failed, Finding, NothingRelevant, Outcome, Question
from gateway.tracing import Call

__all__ = ["Attributes", "evaluated", "of_call", "of_finding", "of_outcome", "of_question", "of_reply"]

Attributes = dict[str, str | int | float | bool | Sequence[str]]

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}


def of_question(question: Question) -> Attributes:
    """Which question it is, for who has the record of outcomes."""
    return {
        "sekisho.question.hash": sha256(question.text.encode()).hexdigest(),
        "sekisho.question.language": question.language,
        "sekisho.question.self_contained": question.self_contained,
        "sekisho.tenant": question.tenant,
    }


def of_outcome(outcome: Outcome) -> Attributes:
    """How it ended."""
    more = {"sekisho.ticket": outcome.ticket, "sekisho.entry": outcome.entry}
    return {
        "sekisho.outcome": outcome.name,
        "sekisho.reason": outcome.reason,
        **{name: value for name, value in more.items() if value is not None},
    }


def of_finding(found: Finding) -> Attributes:
    """What a stage found; the reasons of verdicts quote questions, so they are left out."""
    match found:
        case GateVerdict():
            topic: Attributes = {"sekisho.gate.topic": found.topic} if found.topic else {}
            return {
                "sekisho.gate.label": found.label, "sekisho.gate.rule": found.rule,
                "sekisho.gate.score": found.score, "sekisho.judge": found.judge, **topic,
            }  # fmt: skip
        case Hit():
            hit: Attributes = {"sekisho.entry": found.entry.id, "sekisho.cache.score": found.score}
            return {"sekisho.cache.result": found.tier, **hit}
        case NearMiss():
            return {"sekisho.cache.result": "near_miss", "sekisho.cache.score": found.score}
        case Draft():
            model: Attributes = {"sekisho.rag.model": found.model}
            return {"sekisho.rag.contexts": len(found.contexts), **model, **_corrected(found.correction)}
        case NothingRelevant():
            nothing: Attributes = {"sekisho.rag.nothing_relevant": True}
            return {"sekisho.rag.contexts": len(found.contexts), **nothing, **_corrected(found.correction)}
        case Failed():
            return {"sekisho.rag.failed": found.cause}
        case Checked():
            states = Counter(statement.state for statement in found.statements)
            return {
                "sekisho.faithfulness.statements": len(found.statements),
                "sekisho.faithfulness.unsupported": states["unsupported"],
                "sekisho.faithfulness.statements_unchecked": states["unchecked"],
                "sekisho.faithfulness.worst_score": found.score, "sekisho.judge": found.judge,
            }  # fmt: skip
        case Unchecked():
            return {"sekisho.faithfulness.unchecked": found.reason, "sekisho.judge": found.judge}
        case _:
            return {}


def _corrected(correction: Correction | None) -> Attributes:
    if correction is None:
        return {}
    best: Attributes = {"sekisho.retrieval.score": max(correction.scores, default=0.0)}
    return {"sekisho.retrieval.label": correction.label, "sekisho.retrieval.web": correction.web, **best}


def evaluated(verdict: Checked | Unchecked, *, texts: bool) -> Attributes:
    """The event `gen_ai.evaluation.result` of the GenAI conventions."""
    told: Attributes = {"gen_ai.evaluation.name": "faithfulness"}
    if isinstance(verdict, Unchecked):
        return {**told, "gen_ai.evaluation.score.label": "unchecked"}
    told["gen_ai.evaluation.score.value"] = verdict.faithfulness
    told["gen_ai.evaluation.score.label"] = "supported" if verdict.passed else "unsupported"
    if texts:
        told["gen_ai.evaluation.explanation"] = verdict.reason
    return told


def of_call(call: Call) -> Attributes:
    """What is asked of a model, without the messages."""
    server = urlsplit(call.base_url)
    told: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # whose contract it speaks, as the conventions want it
        "gen_ai.request.model": call.model,
        "server.address": server.hostname or "",
    }
    if server.port:
        told["server.port"] = server.port
    for option, name in _OPTIONS.items():
        if isinstance(call.options.get(option), int | float):
            told[f"gen_ai.request.{name}"] = call.options[option]
    return told


def of_reply(reply: Mapping[str, Any], first_s: float | None = None) -> Attributes:
    """What a model says of its answer; it is a foreign body, so each part is looked at before it is told."""
    told: Attributes = {}
    if first_s is not None:
        told["gen_ai.response.time_to_first_chunk"] = first_s
    for name in ("id", "model"):
        if isinstance(reply.get(name), str):
            told[f"gen_ai.response.{name}"] = reply[name]
    usage = reply.get("usage")
    for ours, theirs in (
        ("input_tokens", ("prompt_tokens", "input_tokens")),
        ("output_tokens", ("completion_tokens", "output_tokens")),
    ):
        counts = [usage.get(name) for name in theirs] if isinstance(usage, Mapping) else []
        count = next((count for count in counts if type(count) is int), None)
        if count is not None:
            told[f"gen_ai.usage.{ours}"] = count
    if reasons := _finish_reasons(reply.get("choices")):
        told["gen_ai.response.finish_reasons"] = reasons
    return told


def _finish_reasons(choices: object) -> list[str]:
    if not isinstance(choices, list):
        return []
    reasons = [choice.get("finish_reason") for choice in choices if isinstance(choice, Mapping)]
    return [reason for reason in reasons if isinstance(reason, str)]
