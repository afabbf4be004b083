"""Past questions through another gate: what it would have decided. No model is asked but the encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Select, select

from classifiers.gate import GateVerdict
from encoders import Encoder, encode_one
from gateway.database import reading
from gateway.errors import ConfigurationError, InvalidRequest
from gateway.figures.rates import Rate
from gateway.gatekeeping.files import rows_of
from gateway.gatekeeping.turns import WANTS_PERSON
from gateway.stages import Gate
from storage.schema import asked_by_somebody, outcomes, tickets
from storage.sql import Database

__all__ = ["Change", "Past", "Record", "Replay", "Verdict", "past_questions", "questions_of_file", "replay"]

Record = Literal["outcomes", "tickets"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate said, as far as it is kept."""

    label: str
    rule: str = ""
    reason: str = ""

    @classmethod
    def of(cls, verdict: GateVerdict) -> Verdict:
        """Of a verdict of today."""
        return cls(verdict.label, verdict.rule, verdict.reason)


@dataclass(frozen=True, slots=True)
class Past:
    """A question that was asked, so many times, and what the gate said then; None where nobody asked it."""

    text: str
    group: str = ""
    was: Verdict | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Change:
    """Questions that go another way, those asked most often first."""

    was: str
    becomes: str
    rate: Rate  # of all questions
    examples: tuple[tuple[Past, Verdict, Verdict], ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """Every question with what was said of it and what would be."""

    judged: tuple[tuple[Past, Verdict, Verdict], ...]

    @property
    def n(self) -> int:
        """Questions, each as often as it was asked."""
        return sum(past.times for past, _, _ in self.judged)

    def rates(self, side: Literal["was", "becomes"]) -> dict[str, Rate]:
        """The share of each class."""
        counts: Counter[str] = Counter()
        for past, was, becomes in self.judged:
            counts[(was if side == "was" else becomes).label] += past.times
        return {label: Rate(counts[label], self.n) for label in ("must", "unsure", "may", "must_not")}

    def changes(self) -> list[Change]:
        """From which class to which, the most frequent first."""
        kinds: dict[tuple[str, str], list[tuple[Past, Verdict, Verdict]]] = {}
        for one in self.judged:
            if one[1].label != one[2].label:
                kinds.setdefault((one[1].label, one[2].label), []).append(one)
        found = [
            Change(was, becomes, Rate(sum(past.times for past, _, _ in some), self.n), _often_first(some))
            for (was, becomes), some in kinds.items()
        ]
        return sorted(found, key=lambda change: -change.rate.count)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "n": self.n,
            "distinct": len(self.judged),
            "was": _rates(self.rates("was")),
            "becomes": _rates(self.rates("becomes")),
            "changes": [_change(change) for change in self.changes()],
        }


async def replay(
    questions: Sequence[Past],
    becomes: tuple[Gate, Encoder],
    *,
    tenant: str,
    was: tuple[Gate, Encoder] | None = None,
    progress: Callable[[], object] = lambda: None,
) -> Replay:
    """Judge every question by the new gate; what it was is in the record, or the gate `was` says it.

    Raises:
        ClassifierError: when a gate cannot judge.
    """
    judged = []
    for past in questions:
        before = past.was if was is None else Verdict.of(await _judged(was, past, tenant))
        if before is not None:
            judged.append((past, before, Verdict.of(await _judged(becomes, past, tenant))))
        progress()
    return Replay(tuple(judged))


async def past_questions(
    db: Database, record: Record, *, tenant: str, since: datetime | None, limit: int
) -> list[Past]:
    """The newest questions of a record, each once; those whose texts or verdicts are not kept are left out.

    Raises:
        StoreUnavailable: if the record can't be read.
    """
    query, read = (_OUTCOMES, _of_outcome) if record == "outcomes" else (_TICKETS, _of_ticket)
    table = outcomes if record == "outcomes" else tickets
    at = table.c.at if record == "outcomes" else table.c.created_at
    query = query.where(table.c.tenant == tenant).order_by(at.desc()).limit(limit)
    if since is not None:
        query = query.where(at >= since)
    async with reading(db, f"record of {record}") as connection:
        rows = (await connection.execute(query)).mappings().all()
    return _counted(filter(None, map(read, rows)))


def questions_of_file(file: Path) -> list[Past]:
    """The questions of a .txt (a line each), .csv or .jsonl with `text` or `question`.

    Raises:
        InvalidRequest: naming file and line of what can't be read.
    """
    try:
        found = _counted(_past(row, f"{file}, line {line}") for line, row in rows_of(file))
    except ConfigurationError as exc:
        raise InvalidRequest(str(exc)) from exc
    if not found:
        raise InvalidRequest(f"{file} holds no questions")
    return found


_OUTCOMES: Select[Any] = select(
    outcomes.c.question, outcomes.c.group, outcomes.c.gate_label, outcomes.c.gate_rule, outcomes.c.stage_ms
).where(outcomes.c.question.is_not(None), outcomes.c.gate_label.is_not(None))
_TICKETS: Select[Any] = select(tickets.c.question, tickets.c.group, tickets.c.steps).where(asked_by_somebody)


def _of_outcome(row: Mapping[Any, Any]) -> Past | None:
    if row["gate_rule"] == WANTS_PERSON or _leant(row["gate_label"], row["stage_ms"]):
        return None
    return Past(row["question"], row["group"], Verdict(row["gate_label"], row["gate_rule"] or ""))


def _of_ticket(row: Mapping[Any, Any]) -> Past | None:
    stages = [step["stage"] for step in row["steps"]]
    said = next((step["found"] for step in row["steps"] if step["stage"] == "gate"), None)
    if said is None or said.get("rule") == WANTS_PERSON or _leant(said["label"], stages):
        return None
    return Past(row["question"], row["group"], Verdict(said["label"], said.get("rule", ""), said["reason"]))


def _leant(label: str, stages: Collection[str]) -> bool:
    """Whether it was a follow-up, judged with turns that the record lacks: those are never looked up."""
    return label in ("must", "unsure") and "cache" not in stages


@dataclass(slots=True)
class _Times:
    newest: Past
    times: int = field(default=0)


def _counted(asked: Iterable[Past | None]) -> list[Past]:
    """Each question of a group once, as it was judged last."""
    found: dict[tuple[str, str], _Times] = {}
    for past in asked:
        if past is not None:
            found.setdefault((past.text, past.group), _Times(past)).times += past.times
    return [Past(one.newest.text, one.newest.group, one.newest.was, one.times) for one in found.values()]


def _past(row: Mapping[str, Any], where: str) -> Past:
    text = row.get("text") or row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise InvalidRequest(f'{where}: expected "text" or "question" with a text')
    return Past(text.strip(), str(row.get("group") or ""))


async def _judged(by: tuple[Gate, Encoder], past: Past, tenant: str) -> GateVerdict:
    gate, encoder = by
    return await gate.judge(await encode_one(encoder, past.text), tenant=tenant, group=past.group)


def _often_first(some: list[tuple[Past, Verdict, Verdict]]) -> tuple[tuple[Past, Verdict, Verdict], ...]:
    return tuple(sorted(some, key=lambda one: -one[0].times))


def _rates(rates: Mapping[str, Rate]) -> dict[str, Any]:
    return {label: {"n": rate.count, "share": rate.value, "ci95": rate.ci95} for label, rate in rates.items()}


def _change(change: Change) -> dict[str, Any]:
    return {
        "was": change.was,
        "becomes": change.becomes,
        "n": change.rate.count,
        "share": change.rate.value,
        "ci95": change.rate.ci95,
        "examples": [
            {
                "question": past.text,
                "times": past.times,
                "was": before.rule,
                "becomes": after.rule,
                "why": after.reason,
            }
            for past, before, after in change.examples
        ],
    }
